/**
 * Why a row of a CSV is not valid. Facts: `line`; for an order of several lines its `order` and maybe `lines` (4-6); for a cell also
 * `columnNumber` (from 1), `column` (as in the header) and `cell` (at most 40 characters). They are printed before the
 * sentence.
 */
import type { Reasons } from './reason.ts';

export const CELL_REASONS = {
  AMOUNT_EMPTY: {
    meaning: 'The amount is empty.',
    sentence: '[?cell means that there is no amount.][!cell is empty.]',
    remedy:
      'Give an amount, or 0[?isElsewhere ; if the total of an order is on one of its lines only, let the first ' +
      'line count (`--combine-lines first`)]; if the line is not an order, such as a footer, remove it, or leave it: it is not sent.',
  },
  AMOUNT_NOT_A_NUMBER: {
    meaning: 'The amount is not a number.',
    sentence: 'is not a number[ with the decimal sign "{decimal}", as in the rest of the file].',
    remedy: 'Write digits with the decimal sign of the other amounts, such as 1234.50 or 1234,50.',
  },
  AMOUNT_AMBIGUOUS: {
    meaning: 'The amount can be read as two different numbers.',
    sentence: 'may be {either} or {or}.',
    remedy:
      'Load the file with its decimal sign, on the command line or in the console: a point (`--decimal .`[ gives {either}]) ' +
      'or a comma (`--decimal ,`[ gives {or}]); for a watched folder, set `decimal` in the options of its sync.',
  },
  AMOUNT_CUT_OFF: {
    meaning: 'The file ends in the amount, and all other amounts have two decimals, so the amount may be cut off.',
    sentence: 'may be cut off: the file ends in it, and all other amounts have two decimals.',
    remedy: 'Export or copy the file again. If the amount is right, add a line end after it.',
  },
  AMOUNT_IS_DATE: {
    meaning: 'The amount looks like a date or time.',
    sentence: 'looks like a date or time.',
    remedy: 'Map the right column, or format the cell as a number in the spreadsheet and export it again.',
  },
  AMOUNT_EXPONENT: {
    meaning: 'The amount is written with an exponent, which loses digits.',
    sentence: 'is written with an exponent, which loses digits.',
    remedy: 'Write all digits.',
  },
  AMOUNT_PARENTHESES: {
    meaning: 'The amount is written as (12.00) or 12.00-, which is read as -12.00 only if you say so.',
    sentence: 'is written as in bookkeeping, and is read as a negative amount only if you say so.',
    remedy:
      'Write -12.00, or say that such amounts are negative, on the command line (`--accounting`) or in the form of the console; for a watched folder, set `accounting` in the options of its sync.',
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
    meaning: 'The amount has more digits than a number can hold exactly.',
    sentence: 'has more than {most} digits.',
    remedy: 'Correct it.',
  },
  ORDER_ID_CUT_SHORT: {
    meaning: 'A spreadsheet shortened a long order_id, so different orders may have the same one.',
    sentence: 'is a long number that a spreadsheet shortened, so other rows may have the same one.',
    remedy: 'Export it as text.',
  },
  ORDER_ID_DECIMAL: {
    meaning:
      'A program wrote the order_id as a decimal number (1001.0), so it is not the one that other files have (1001).',
    sentence: 'is a decimal number: a program may have added the decimals to a whole number.',
    remedy: 'Export it as text, without decimals.',
  },
  CLIENT_ID_CUT_SHORT: {
    meaning: 'A spreadsheet shortened a long customer id, so different customers may have the same one.',
    sentence: 'is a long number that a spreadsheet shortened, so other rows may have the same one.',
    remedy: 'Export it as text.',
  },
  CLIENT_ID_INVALID: {
    meaning: 'The cell is not a customer id.',
    sentence: 'is not a customer id.',
    remedy: 'Give the id as the service shows it, without spaces, or leave the cell empty.',
  },
  EMAIL_INVALID: {
    meaning: 'The cell is not an e-mail address.',
    sentence: 'is not an e-mail address.',
    remedy: 'Give exactly one address, such as ann@example.com.',
  },
  PHONE_INVALID: {
    meaning: 'The cell is not a phone number.',
    sentence:
      '[?isNumber was turned into a number by a spreadsheet.][!isNumber is not a phone number: it has no digits.]',
    remedy:
      'Give it as text, with all its digits. Where the rows name their customers by other columns, you can empty the cells, or load the file without phones (`--map customer_phone= --map phone_number=`).',
  },
  CUSTOMER_MASKED: {
    meaning: 'The cell hides who the customer is behind asterisks, so different customers look the same.',
    sentence: 'hides who the customer is behind asterisks, so other customers may look the same.',
    remedy: 'Export the file with the whole data, or name the customer by another column.',
  },
  PICTURE_URL_INVALID: {
    meaning: 'The cell is not a web address.',
    sentence: 'is not a web address.',
    remedy: 'Give one that begins with https://.',
  },
  FORMULA_ERROR: {
    meaning: 'The cell has an error of a spreadsheet instead of a value.',
    sentence: 'is an error of a spreadsheet, not a value.',
    remedy: 'Correct the formula in the spreadsheet, or widen the column, and export it again.',
  },
  TOO_LONG: {
    meaning: 'The cell is too long.',
    sentence: 'has {length} characters; at most {most} are accepted.',
    remedy: 'Shorten it.',
  },
  CONTROL_CHARACTER: {
    meaning: 'The cell has a line break or another control character.',
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
    remedy: 'Correct it in the file, or choose the encoding of the file (`--encoding`).',
  },
  NO_CUSTOMER: {
    meaning: 'The row names no customer.',
    remedy:
      'Fill in one of the customer columns[: {columns}]; if the line is not an order, such as a total, remove it, or leave it: it is not sent.',
  },
  LINE_WITHOUT_ORDER: {
    meaning:
      'The line names neither an order nor a customer, and may be a line of the order above, whose amounts are added.',
    sentence: 'The line names neither an order nor a customer, so it may be a line of the order above.',
    remedy: 'Give it the order_id of that order, or remove it if it is a total.',
  },
  LINE_UNREADABLE: {
    meaning: 'A line next to the order cannot be read, and may be one of its lines, whose amounts are added.',
    sentence: 'Line {other} cannot be read, and may be a line of this order, whose amounts are added.',
    remedy: 'Correct [line {other}][!other that line], or remove it if it is not a line of an order.',
  },
  TOTALS_ROW: {
    meaning: 'The row looks like a totals row.',
    remedy:
      'Remove it, or leave it: it is not sent. If it is an order, give it another order_id and description, and name its customer by an e-mail, a phone or an id.',
  },
  HEADER_REPEATED: {
    meaning: 'The row repeats the header.',
    remedy: 'Remove the row, or leave it: it is not sent.',
  },
  HEADER_CHANGED: {
    meaning: 'The row is a header with other columns, or is below one.',
    sentence:
      '[?isHeader The row is a header with other columns than the first one.][!isHeader Line {header} is a header with other columns than the first one, so the cells of this row may be in other columns.]',
    remedy:
      'Load this header and the lines below it as a file of their own; if it only describes the columns, remove it.',
  },
  RAGGED: {
    meaning: 'The row has more or fewer cells than the header.',
    sentence:
      'The header has {header} cells, and the row has {cells}.[?isEnd  The file ends in this row, so it may be cut off.]',
    remedy:
      '[?isEnd Export or copy the whole file again, and load it. ]Add or remove delimiters, and put quotes around a cell that has one ("12,50"); if the line is not an order, such as a footer, remove it, or leave it: it is not sent.',
  },
  UNCLOSED_QUOTE: {
    meaning: 'A quoted cell is not closed, is closed in a later row, or has more than 262,144 characters.',
    remedy: 'Close the quote, or double it ("") if it is part of the text. If the cell is that long, shorten it.',
  },
  BAD_QUOTES: {
    meaning: 'A quote inside a quoted cell is not doubled.',
    remedy: 'Write each such quote as "".',
  },
  ROW_TOO_LONG: {
    meaning: 'The row is too long.',
    sentence: 'The row has more than {most} characters.',
    remedy: 'Shorten it.',
  },
  NUL_BYTE: {
    meaning: 'The row contains a NUL byte, which text must not contain.',
    remedy: 'Remove the byte, or export the file again.',
  },
  DUP_IN_FILE: {
    meaning: 'The same order is on an earlier line of the file; it is sent once.',
    sentence: 'The same order is on line {other} already.[ That row was not loaded: {because}]',
  },
  ORDER_ID_REPEATED: {
    meaning:
      'Another line of the file has the same order_id with other content, and names no different customer, so neither is sent.',
    sentence: 'Line {other} has the same order_id with other content.',
    remedy:
      'Keep one, or give this one its own order_id.[!combining  If they are lines of one order, load the file with ' +
      'its lines combined: add their amounts (`--combine-lines sum`) if each line has the amount of its item, or let the first line count ' +
      '(`--combine-lines first`) if each has the amount of the order.][?combining  Only neighbouring lines of one customer are ' +
      'combined: sort the file by order_id.]',
  },
  LINES_DIFFER: {
    meaning: 'The lines that are combined to one order have different values of a field; the first one is used.',
    sentence: 'are different values of {field}; the first one is used.',
    remedy: 'Check that these lines are one order, and that its first line has the right value.',
  },
  INVALID: { meaning: 'The row is not valid.', remedy: 'Correct the row.' },
} as const satisfies Reasons;

export type CellCode = keyof typeof CELL_REASONS;
