/** The options that every command takes. */
export interface GlobalOptions {
  readonly config?: string;
  readonly data: string;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly init: boolean;
}

export const DEFAULT_DATA = '.lockstep';

/** The flags that the command line does not give. */
export const NOT_GIVEN = { json: false, verbose: false, init: false };

/** The options as commander gives them, which leaves flags out that are not given. */
export type GivenOptions = Omit<GlobalOptions, keyof typeof NOT_GIVEN> & Partial<typeof NOT_GIVEN>;
