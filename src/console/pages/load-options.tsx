/** The choices of a load: how its file is read instead, and what it does with orders and customers. */
import { COMBINE } from '../../csv/combine.ts';
import { ENCODINGS } from '../../csv/encoding.ts';
import { DELIMITERS } from '../../csv/format.ts';
import { NO_PRESET } from '../../csv/presets.ts';
import { delimiterWords } from '../../operator/sheet-words.ts';
import { columnValue, type LoadForm } from '../loads/load-form.ts';
import { Section } from '../parts/parts.tsx';

const EXISTING_WORDS = {
  skip: 'leave it as it is',
  update: 'update it',
  fail: 'reject the row',
} as const;

const COMBINE_WORDS = {
  sum: 'add their amounts',
  first: 'the first line counts',
  none: 'each line is an order',
} as const;

interface ReadingProps {
  readonly form: LoadForm;
  /** Names of the presets. */
  readonly presets: readonly string[];
  readonly isOpen?: boolean;
}

/** What is detected otherwise. */
export function Reading({ form, presets, isOpen = false }: ReadingProps) {
  const { encoding, delimiter, decimal, header, headless, preset, combine } = form;
  const isChosen = [encoding, delimiter, decimal, header, headless, preset, combine].some((one) => one !== undefined);
  const named = [NO_PRESET, ...presets];
  return (
    <details class="load-reading" open={isOpen || isChosen}>
      <summary>Read it differently</summary>
      <div class="filters">
        <Choice name="encoding" label="Encoding" value={encoding} options={ENCODINGS.map((one) => [one, one])} />
        <Choice
          name="delimiter"
          label="Delimiter"
          value={delimiter}
          options={DELIMITERS.map((one) => [one, delimiterWords(one)])}
        />
        <Choice
          name="decimal"
          label="Decimal sign"
          value={decimal}
          options={[
            ['.', 'point'],
            [',', 'comma'],
          ]}
        />
        <Choice name="preset" label="Preset" value={preset} options={named.map((one) => [one, one])} />
        <Choice
          name="combine"
          label="Several lines of one order"
          value={combine}
          options={COMBINE.map((one) => [one, COMBINE_WORDS[one]])}
        />
        <label>
          Line of the header
          <input type="number" name="header" min={1} value={header} placeholder="detected" />
        </label>
        <Check name="headless" label="It has no header" isOn={headless !== undefined} />
        <button type="submit">Read it again</button>
      </div>
    </details>
  );
}

interface OptionsProps {
  readonly form: LoadForm;
  readonly wasLoaded: boolean;
  /** The columns of the file. */
  readonly columns: readonly string[];
}

export function Options({ form, wasLoaded, columns }: OptionsProps) {
  const { existing, customers, again, only, is } = form;
  return (
    <Section title="Options">
      <div class="filters">
        <label>
          An order that exists already
          <select name="existing">
            {Object.entries(EXISTING_WORDS).map(([value, words]) => (
              <option value={value} selected={value === existing}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          Only orders whose
          <select name="only">
            <option value="">(all orders)</option>
            {columns.map((name, index) => (
              <option value={columnValue(name, index)} selected={columnValue(name, index) === only}>
                {name.slice(0, 60) || `column ${index + 1}`}
              </option>
            ))}
          </select>
        </label>
        <label>
          is
          <input name="is" value={is} maxlength={200} placeholder="a value, such as Paid" />
        </label>
        <Check name="customers" label="Create missing customers" isOn={customers !== undefined} />
        {(wasLoaded || again !== undefined) && (
          <Check name="again" label="Check every row again" isOn={again !== undefined} />
        )}
      </div>
    </Section>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, words: string])[];
}

function Choice({ name, label, value, options }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">detected</option>
        {options.map(([one, words]) => (
          <option value={one} selected={one === value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Check({ name, label, isOn }: { readonly name: string; readonly label: string; readonly isOn: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="yes" checked={isOn} />
      {label}
    </label>
  );
}
