/** The choices of a load: how its file is read instead, and what it does with orders and customers. */
import type { CombineChoice } from '../../csv/combine.ts';
import { ENCODINGS } from '../../csv/encoding.ts';
import { DELIMITERS } from '../../csv/format.ts';
import { NO_PRESET } from '../../csv/presets.ts';
import { combineWords, decimalWords, delimiterWords, presetWords, whereWords } from '../../operator/sheet-words.ts';
import type { EXISTING } from '../../settings/schema-sync.ts';
import type { Preview } from '../../syncs/orders/preview-load.ts';
import { columnValue, type LoadForm } from '../loads/load-form.ts';
import { Check, Field, Select } from '../parts/inputs.tsx';
import { Facts, Foreign, Section } from '../parts/parts.tsx';

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
const found = (words: string | undefined) => (words === undefined ? 'detected' : `${words}, detected`);

interface ReadingProps {
  readonly form: LoadForm;
  /** Undefined if the file is no table as it is read now. */
  readonly preview?: Preview;
}

/** How the file is read: each choice shows what was detected, and can be changed. */
export function Reading({ form, preview }: ReadingProps) {
  const { table, sheet, presets = [] } = preview ?? {};
  const { encoding, delimiter, decimal, accounting, header, headless, preset, combine } = form;
  const detected = sheet?.decimal.sign;
  return (
    <Section title="How it is read">
      <div class="filters chips">
        <Select
          label="Encoding"
          name="encoding"
          options={ENCODINGS}
          value={encoding}
          none={found(table?.encoding.encoding)}
        />
        <Select
          label="Delimiter"
          name="delimiter"
          options={DELIMITER_WORDS}
          value={delimiter}
          none={found(table && delimiterWords(table.format.delimiter))}
        />
        <Select
          label="Decimal sign"
          name="decimal"
          options={DECIMAL_WORDS}
          value={decimal}
          none={found(detected === 'unsure' ? 'of each amount' : DECIMAL_WORDS.find(([one]) => one === detected)?.[1])}
        />
        <Select
          label="Preset"
          name="preset"
          options={[NO_PRESET, ...presets]}
          value={preset}
          none={found(sheet && (sheet.preset?.name ?? NO_PRESET))}
        />
        <Select
          label="Several lines of one order"
          name="combine"
          options={COMBINE_WORDS}
          value={combine}
          none={found(sheet && COMBINE_WORDS.find(([one]) => one === (sheet.combine?.amount ?? 'none'))?.[1])}
        />
        <Field
          label="Line of the header"
          type="number"
          name="header"
          min={1}
          value={header}
          placeholder={found(table && (table.format.hasHeader ? String(table.headerLine) : 'none'))}
        />
        <Check name="headless" label="It has no header" checked={headless !== undefined} />
        <Check name="accounting" label="(12.00) and 12.00- are negative" checked={accounting !== undefined} />
        <button type="submit">Read it again</button>
      </div>
      {table && (
        <Facts
          of={{
            Encoding: table.encoding.why,
            Format: `quote ${table.format.quote}, line end ${table.format.lineEnd}`,
            Amounts: sheet && <Foreign text={decimalWords(sheet)} most={200} />,
            Preset: sheet?.preset && presetWords(sheet.preset),
            Lines: sheet?.combine && combineWords(sheet.combine),
            Filter: sheet && sheet.where.length > 0 && <Foreign text={whereWords(sheet.where)} most={200} />,
          }}
        />
      )}
    </Section>
  );
}

interface OptionsProps {
  readonly form: LoadForm;
  readonly wasLoaded: boolean;
  readonly columns: readonly string[];
}

export function Options({ form, wasLoaded, columns }: OptionsProps) {
  const { existing, customers, again, only, is } = form;
  const named = columns.map((name, i) => [columnValue(i, columns), name.slice(0, 60) || `column ${i + 1}`] as const);
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
