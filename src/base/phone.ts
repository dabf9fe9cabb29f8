/** Phone numbers in the international form E.164, by libphonenumber, which is loaded when it is first used. */
import { createRequire } from 'node:module';
import type * as Phones from 'libphonenumber-js/min';

let loaded: typeof Phones | undefined;

function phones(): typeof Phones {
  loaded ??= createRequire(import.meta.url)('libphonenumber-js/min') as typeof Phones; // safe: the types of the same file
  return loaded;
}

/** Whether phone numbers of this country (`DE`: ISO 3166-1, two capital letters) can be read. */
export function isPhoneCountry(country: string): boolean {
  return phones().isSupportedCountry(country);
}

/**
 * `+49305550000` for `030 555 0000`. `country`: of numbers without a country code; without it they are unreadable. Undefined
 * if the text is not a phone number of a possible length, or has an extension, which E.164 cannot hold.
 */
export function toE164(text: string, country?: string): string | undefined {
  const number = parsed(text, country);
  return number?.isPossible() && number.ext === undefined ? number.number : undefined;
}

/** Whether a text is a phone number with an extension: `+49 30 123 ext. 5`. */
export function hasExtension(text: string, country?: string): boolean {
  return parsed(text, country)?.ext !== undefined;
}

function parsed(text: string, country: string | undefined): Phones.PhoneNumber | undefined {
  const { default: parse, isSupportedCountry } = phones();
  const known = country !== undefined && isSupportedCountry(country) ? { defaultCountry: country } : {};
  return parse(text, { ...known, extract: false });
}
