/** Bytes appended one after another up to a limit, kept in one buffer that doubles as it fills. */
export class GrowingBytes {
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns false and appends nothing if the limit would be exceeded. */
  append(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) return false;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** A view, valid until the next append. */
  view(start = 0): Buffer {
    return this.#buffer.subarray(start, this.#length);
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2));
    larger.set(this.view());
    this.#buffer = larger;
  }
}
