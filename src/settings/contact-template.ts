/** The templates of a mapping: `{{ first_name }} {{ last_name }}`. A field without a value is empty, and false in conditions. */
import { contactFieldProblem } from './contact-fields.ts';
import { compileTemplate, notATemplate, variablesOf } from './template.ts';

/** A template with the names of the fields that it uses. */
export interface ContactTemplate {
  readonly names: readonly string[];
  /** Empty if all of its fields are empty. Spaces around are removed, and several in a row become one. */
  readonly render: (textOf: (name: string) => string) => string;
}

/** What is wrong with a template: nothing if it can be used. */
export function contactTemplateProblems(text: string): readonly string[] {
  try {
    const names = variablesOf(text, 'text');
    if (names.length > 0) return names.flatMap((name) => contactFieldProblem(name) ?? []);
    return ['it names no field of the contact, such as {{ first_name }}; for a fixed text, use value'];
  } catch (error) {
    return [notATemplate(error)];
  }
}

/** Throws if the text is not a template. */
export function contactTemplate(text: string): ContactTemplate {
  const names = variablesOf(text, 'text');
  const fill = compileTemplate<Record<string, string | null>>(text, 'text');
  return {
    names,
    render(textOf) {
      const view = Object.fromEntries(names.map((name) => [name, textOf(name) || null]));
      if (Object.values(view).every((value) => value === null)) return '';
      return fill(view).replace(/\s+/g, ' ').trim();
    },
  };
}
