/** A column that fills a field. */
import type { CellSource } from './cell-source.ts';
import type { Field } from './fields.ts';
import type { Fits } from './fits.ts';

export interface MappedColumn extends CellSource {
  readonly field: Field;
  readonly name: string;
  readonly how: 'told' | 'remembered' | 'preset' | 'exact' | 'synonym' | 'content' | 'fuzzy' | 'shared';
  /** Of the name, from 0 to 1. */
  readonly confidence: number;
  /** Of the cells that were looked at. */
  readonly fits: Fits;
}
