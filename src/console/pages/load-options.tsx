/** The choices of a load: how its file is read instead, and what it does with orders and customers. */
import type { CombineChoice } from '../../csv/combine.ts';
import { ENCODINGS } from '../../csv/encoding.ts';
import { DELIMITERS } from '../../csv/format.ts';
import { NO_PRESET } from '../../csv/presets.ts';
import { delimiterWords } from '../../operator/sheet-words.ts';
import type { EXISTING } from '../../settings/schema-sync.ts';
import { columnValue, type LoadForm } from '../loads/load-form.ts';
import { Check, Field, Select } from '../parts/inputs.tsx';
import { Section } from '../parts/parts.tsx';

const EXISTING_WORDS = Object.entries({
  skip: 'leave it as it is',
  update: 'update it',
  fail: 'reject the row',
} satisfies Record<(typeof EXISTING)[number], string>);

const COMBINE_WORDS = Object.entries({
  sum: 'add their amounts',
  first: 'the first line counts',
  none: 'each line is an order',
} satisfies Record<CombineChoice, string>);

const DECIMAL_WORDS = Object.entries({ '.': 'point', ',': 'comma' });
const DELIMITER_WORDS = DELIMITERS.map((one) => [one, delimiterWords(one)] as const);
/** What the file is read as, unless a person chooses. */
const FOUND = 'detected';

interface ReadingProps {
  readonly form: LoadForm;
  readonly presets: readonly string[];
  readonly isOpen?: boolean;
}

/** What is detected otherwise. */
export function Reading({ form, presets, isOpen = false }: ReadingProps) {
  const { encoding, delimiter, decimal, header, headless, preset, combine } = form;
  const isChosen = [encoding, delimiter, decimal, header, headless, preset, combine].some((one) => one !== undefined);
  return (
    <details class="load-reading" open={isOpen || isChosen}>
      <summary>Read it differently</summary>
      <div class="filters">
        <Select label="Encoding" name="encoding" options={ENCODINGS} value={encoding} none={FOUND} />
        <Select label="Delimiter" name="delimiter" options={DELIMITER_WORDS} value={delimiter} none={FOUND} />
        <Select label="Decimal sign" name="decimal" options={DECIMAL_WORDS} value={decimal} none={FOUND} />
        <Select label="Preset" name="preset" options={[NO_PRESET, ...presets]} value={preset} none={FOUND} />
        <Select
          label="Several lines of one order"
          name="combine"
          options={COMBINE_WORDS}
          value={combine}
          none={FOUND}
        />
        <Field label="Line of the header" type="number" name="header" min={1} value={header} placeholder="detected" />
        <Check name="headless" label="It has no header" checked={headless !== undefined} />
        <button type="submit">Read it again</button>
      </div>
    </details>
  );
}

interface OptionsProps {
  readonly form: LoadForm;
  readonly wasLoaded: boolean;
  readonly columns: readonly string[];
}

export function Options({ form, wasLoaded, columns }: OptionsProps) {
  const { existing, customers, again, only, is } = form;
  const named = columns.map((name, i) => [columnValue(name, i), name.slice(0, 60) || `column ${i + 1}`] as const);
  return (
    <Section title="Options">
      <div class="filters">
        <Select
          label="An order that exists already"
          name="existing"
          options={EXISTING_WORDS}
          value={existing}
          none={null}
        />
        <Select label="Only orders whose" name="only" options={named} value={only} none="(all orders)" />
        <Field label="is" name="is" value={is} maxlength={200} placeholder="a value, such as Paid" />
        <Check name="customers" label="Create missing customers" checked={customers !== undefined} />
        {(wasLoaded || again !== undefined) && (
          <Check name="again" label="Check every row again" checked={again !== undefined} />
        )}
      </div>
    </Section>
  );
}
