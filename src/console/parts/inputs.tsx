/** Parts of forms, and buttons. */
import type { Child, JSX } from 'hono/jsx';
import { Words } from './words.tsx';

/** A button that posts at once; what cannot be undone goes through the page that confirms it. */
export function Act({ path, values = {}, ...button }: SubmitProps & { path: string; values?: HiddenValues }) {
  return (
    <form method="post" action={path}>
      <Hidden values={values} />
      <Submit {...button} />
    </form>
  );
}

type SubmitProps = JSX.IntrinsicElements['button'] & { readonly label: Child; readonly primary?: boolean };

/** The button that sends a form. `name` and `value`: what the form says if this button was pressed. */
export function Submit({ label, primary, ...button }: SubmitProps) {
  return (
    <button type="submit" class={primary ? 'primary' : undefined} {...button}>
      {label}
    </button>
  );
}

/** A link to another page that looks like a button. */
export function Button({ id, to, label, primary }: { id?: string; to: string; label: Child; primary?: boolean }) {
  return (
    <a id={id} class={primary ? 'button primary' : 'button'} href={to}>
      {label}
    </a>
  );
}

type HiddenValues = Readonly<Record<string, string | number | undefined>>;

/** Fields that are sent and not shown; those without a value are left out. */
export function Hidden({ values }: { readonly values: HiddenValues }) {
  return (
    <>
      {Object.entries(values).map(
        ([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />,
      )}
    </>
  );
}

type FieldProps = JSX.IntrinsicElements['input'] & {
  readonly label: Child;
  readonly name: string;
  readonly grows?: boolean;
  readonly suggest?: readonly string[];
};

/** An input under its label. `grows`: it takes the room that is left. `suggest`: texts that the browser offers. */
export function Field({ label, grows, suggest, ...input }: FieldProps) {
  const list = `${input.name}s`;
  return (
    <label class={grows ? 'grows' : undefined}>
      {label}
      <input {...(suggest && { list, autocomplete: 'off' })} {...input} />
      {suggest && (
        <datalist id={list}>
          {suggest.map((one) => (
            <option value={one} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** A text of several lines under its label. */
export function LongField({ label, ...area }: JSX.IntrinsicElements['textarea'] & { readonly label: string }) {
  return (
    <label>
      {label}
      <textarea {...area} />
    </label>
  );
}

export function Note() {
  return <LongField label="Note, for others to read" name="note" rows={2} maxlength={1_000} />;
}

/** A box to tick, before its label. `name` and `value`: what the form says if it is ticked. */
export function Check({ label, value = 'yes', ...box }: JSX.IntrinsicElements['input'] & { readonly label: string }) {
  return (
    <label class="check">
      <input type="checkbox" value={value} {...box} />
      {label}
    </label>
  );
}

interface SelectProps {
  readonly label: string;
  readonly name: string;
  /** Each value, with its words if they differ. */
  readonly options: readonly (string | readonly [value: string, words: string])[];
  readonly value: string | undefined;
  /** The words for no choice; null: one has to be chosen. */
  readonly none?: string | null;
}

export function Select({ label, name, options, value, none = 'any' }: SelectProps) {
  return (
    <label>
      {label}
      <select name={name}>
        {none !== null && <option value="">{none}</option>}
        {options.map((option) => {
          const [one, words] = typeof option === 'string' ? [option, option] : option;
          return (
            <option value={one} selected={one === value}>
              {words}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** Filters by day: the first and the last. */
export function Days({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  return (
    <>
      <Field label="From (UTC)" type="date" name="from" value={from ?? ''} />
      <Field label="To (UTC)" type="date" name="to" value={to ?? ''} />
    </>
  );
}

/** What to do about a problem. */
export function Remedy({ text, most }: { readonly text: string | undefined; readonly most?: number }) {
  if (text === undefined) return null;
  return (
    <p class="fix">
      <b>Fix</b> <Words text={text} most={most} />
    </p>
  );
}
