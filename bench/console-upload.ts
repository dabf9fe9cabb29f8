/** An upload of 200 MB to a console: the memory that it needs, and that it is there after the server was started again. */
import { memoryMb } from './cost.ts';
import type { Row } from './table.ts';

const UPLOAD_BYTES = 200_000_000;

/** `pid`: of the server. `did`: what it has done before. */
export async function upload(
  url: string,
  pid: number,
  did: string,
): Promise<{ readonly row: Row; readonly id: string }> {
  const line = `${'A-1,1,'.padEnd(90, 'x')},12.50,open\n`;
  const part = Buffer.from(line.repeat(10_000));
  async function* content() {
    yield Buffer.from('order_id,client_id,description,amount,status\n');
    for (let sent = 0; sent < UPLOAD_BYTES; sent += part.length) yield part;
  }
  const before = await memoryMb(pid, 'VmHWM');
  const address = `${url}/api/v1/uploads?account=live&name=large.csv`;
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: ReadableStream.from(content()),
    duplex: 'half',
  } as RequestInit); // as: Node's fetch needs it, and its types do not have it
  const { id } = (await answer.json()) as { id: string }; // safe: an upload
  await (await fetch(`${url}/load/${id}`)).text();
  const after = await memoryMb(pid, 'VmHWM');
  const row = {
    what: `an upload of 200 MB and its preview, to one process with worker, service and console that ${did}: its peak RSS before and after`,
    wanted: '< 256 MB',
    got: `${before.toFixed(0)} MB, ${after.toFixed(0)} MB`,
    isMet: after < 256,
  };
  return { row, id };
}

/** After the server was stopped and started. */
export async function previewAgain(url: string, id: string): Promise<Row> {
  const answer = await fetch(`${url}/load/${id}`);
  const isThere = answer.ok && (await answer.text()).includes('large.csv');
  return {
    what: 'the same upload after its server was stopped and started',
    wanted: 'there',
    got: isThere ? 'there' : 'gone',
    isMet: isThere,
  };
}
