/**
 * Reasons of rows of a CSV that are not valid. Facts: `line`; of a cell also `columnNumber` (from 1), `column` (as the header has it)
 * and `cell` (at most 40 characters), which stand before the sentence.
 */
import type { Reasons } from './reason.ts';

export const CELL_REASONS = {
  AMOUNT_EMPTY: { meaning: 'The amount is empty.', sentence: 'is empty.', remedy: 'Give an amount, or 0.' },
  AMOUNT_NOT_A_NUMBER: {
    meaning: 'The amount is not a number.',
    sentence: 'is not a number[ with the decimal sign "{decimal}", as in the rest of the file].',
    remedy: 'Write digits such as 1234.50.',
  },
  AMOUNT_AMBIGUOUS: {
    meaning: 'The amount can be read as two different numbers.',
    sentence: 'may be {either} or {or}.',
    remedy: 'Say which with `--decimal .` or `--decimal ,`.',
  },
  AMOUNT_IS_DATE: {
    meaning: 'The amount looks like a date or time.',
    sentence: 'looks like a date or time.',
    remedy: 'Map the right column, or undo what the spreadsheet made of it.',
  },
  AMOUNT_EXPONENT: {
    meaning: 'The amount is written with an exponent, which loses digits.',
    sentence: 'is written with an exponent, which loses digits.',
    remedy: 'Write all digits.',
  },
  AMOUNT_PARENTHESES: {
    meaning: 'The amount uses the bookkeeping form of minus, which has to be declared.',
    sentence: 'is minus only where that is declared.',
    remedy: 'Write -12.00, or load the file with `--accounting`.',
  },
  AMOUNT_NEGATIVE_ZERO: {
    meaning: 'The amount is minus zero.',
    sentence: 'is minus zero.',
    remedy: 'Write 0 if that is meant.',
  },
  AMOUNT_TOO_PRECISE: {
    meaning: 'The amount has too many decimals.',
    sentence: 'has {decimals} decimals; at most {most} are accepted.',
    remedy: 'Round it.',
  },
  AMOUNT_OUT_OF_BOUNDS: {
    meaning: 'The amount has more digits than a number carries exactly.',
    sentence: 'has more than {most} digits, which no amount needs.',
    remedy: 'Correct it.',
  },
  ORDER_ID_CUT_SHORT: {
    meaning: 'A spreadsheet cut a long order_id short, so that others look the same.',
    sentence: 'is a long number that a spreadsheet cut short, so that others look the same.',
    remedy: 'Export it as text.',
  },
  CLIENT_ID_CUT_SHORT: {
    meaning: 'A spreadsheet cut a long customer id short, so that others look the same.',
    sentence: 'is a long number that a spreadsheet cut short, so that others look the same.',
    remedy: 'Export it as text.',
  },
  CLIENT_ID_INVALID: {
    meaning: 'The cell is not an id of a customer.',
    sentence: 'is not the id of a customer.',
    remedy: 'Give the id as the service shows it, without spaces; leave it empty where there is none.',
  },
  EMAIL_INVALID: {
    meaning: 'The cell is not an e-mail address.',
    sentence: 'is not an e-mail address.',
    remedy: 'Give one such as ann@example.com, alone.',
  },
  PHONE_INVALID: {
    meaning: 'The cell is not a phone number.',
    sentence:
      '[?isNumber was turned into a number by a spreadsheet.][!isNumber is not a phone number: it has no digits.]',
    remedy: 'Give it as text, with all its digits.',
  },
  PICTURE_URL_INVALID: {
    meaning: 'The cell is not a web address.',
    sentence: 'is not a web address.',
    remedy: 'Give one that begins with https://.',
  },
  TOO_LONG: {
    meaning: 'The cell is too long.',
    sentence: 'has {length} characters; at most {most} are accepted.',
    remedy: 'Shorten it.',
  },
  CONTROL_CHARACTER: {
    meaning: 'The cell has a control character.',
    sentence: 'has a control character ({character}).',
    remedy: 'Remove it.',
  },
  INVISIBLE_CHARACTER: {
    meaning: 'The cell has a character that is not visible.',
    sentence: 'has a character that is not visible (such as U+200B).',
    remedy: 'Type it again.',
  },
  UNREADABLE_CHARACTER: {
    meaning: 'The cell has a character that could not be read.',
    sentence: 'has a character that could not be read (shown as �).',
    remedy: 'Check the encoding of the file.',
  },
  NO_CUSTOMER: {
    meaning: 'The row names no customer.',
    sentence: 'The row names no customer.',
    remedy: 'Fill one of the columns for it[: {columns}].',
  },
  TOTALS_ROW: {
    meaning: 'The row looks like a line of totals.',
    sentence: 'The row looks like a line of totals.',
    remedy: 'Remove it, or name its customer by an e-mail, a phone or an id.',
  },
  RAGGED: {
    meaning: 'The row has more or fewer cells than the header.',
    sentence: 'The row has {cells} cells and the header {header}.',
    remedy: 'Add or remove delimiters.',
  },
  UNCLOSED_QUOTE: {
    meaning: 'A quote opens and is not closed.',
    sentence: 'A quote opens and is not closed.',
    remedy: 'Close it, or double it where it belongs to the text.',
  },
  BAD_QUOTES: {
    meaning: 'A quote inside a quoted cell is not doubled.',
    sentence: 'A quote inside a quoted cell is not doubled.',
    remedy: 'Write "" for each.',
  },
  ROW_TOO_LONG: {
    meaning: 'The row is too long.',
    sentence: 'The row has more than {most} characters.',
    remedy: 'Shorten it.',
  },
  NUL_BYTE: {
    meaning: 'The row holds a NUL byte, which no text has.',
    sentence: 'The row holds a NUL byte, which no text has.',
    remedy: 'Check how the file was made, and remove it.',
  },
  DUP_IN_FILE: {
    meaning: 'The same order stands on an earlier line of the file; it is sent once.',
    sentence: 'The same order is on line {other} already.[ That row was not loaded: {because}]',
  },
  ORDER_ID_REPEATED: {
    meaning: 'Another line of the file has the same order_id with other content, so neither is sent.',
    sentence: 'Line {other} has the same order_id with other content.',
    remedy: 'Keep one, or give this one its own order_id.',
  },
  INVALID: { meaning: 'The row is not valid.', remedy: 'Correct the row.' },
} as const satisfies Reasons;

export type CellCode = keyof typeof CELL_REASONS;
