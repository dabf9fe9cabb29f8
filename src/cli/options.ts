/** The options that every command takes. */
export interface GlobalOptions {
  readonly config?: string;
  readonly data: string;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly init: boolean;
}

export const DEFAULT_DATA = '.lockstep';
