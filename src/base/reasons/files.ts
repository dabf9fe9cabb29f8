/** Reasons of files in a watched folder, and of files that cannot be loaded at all. */
import { REMEDIES, type Reasons } from './reason.ts';

const AGAIN = 'then load it again, or put it into its folder again.';
/** For each way to load a file: a command, the console, a watched folder. */
const CHOOSE =
  'with `--map field=Column` or in the form of the console; for a watched folder, with `map` in the options of its sync or with a preset (docs/csv.md).';

export const FILE_REASONS = {
  LOADED: { meaning: 'All rows of the file were loaded.', sentence: 'Run {load} loaded every row ({rows}).' },
  LOADED_BEFORE: { meaning: 'The same file was loaded before.', sentence: 'Run {load} loaded this file before.' },
  ROWS_LEFT: {
    meaning: 'Some rows of the file were not loaded.',
    sentence:
      '[?before The same file was loaded before. ]Run {load} did not load {left} of {rows} rows[ ({reasons})]; they are in the files beside it.',
    remedy:
      'Correct those rows, and put their files into the folder[!allInvalid ; or retry the run: `lockstep runs retry {load}`].',
  },
  LOADED_WITH_OTHER_OPTIONS: {
    meaning: 'The same file was loaded before with other options; the results are from that load.',
    sentence: 'Run {load} loaded the same file without {options}; the results are from that run.',
    remedy: 'Load it again: `lockstep orders load FILE --account {account} {options} --again`.',
  },
  LOAD_PAUSED: {
    meaning: 'The load of the file is paused until a person resumes it.',
    sentence: 'Run {load}, which loads it, is paused[: {said}]',
    remedy: 'Fix the cause, then resume the load: `lockstep runs resume {load}`.',
  },
  LOAD_AWAITS_APPROVAL: {
    meaning:
      'The load of the file would write more than is allowed without approval, and waits until a person approves it.',
    sentence: 'Run {load}, which loads it, waits for approval[: {said}]',
    remedy:
      'Approve it with `lockstep runs resume {load}`, or decline it with `lockstep runs cancel {load}`; the next run of the sync then moves the file.',
  },
  LOAD_CANCELLED: {
    meaning: 'The load of the file was cancelled.',
    sentence:
      '[!said Run {load}, which loaded it, ended early. {said}][?said Run {load}, which loaded it, was cancelled]',
    remedy: 'To load the rest: `lockstep orders load FILE --account {account}`.',
  },
  FILE_CHANGED: {
    meaning: 'The file was written to while it was being loaded.',
    sentence: 'The file was written to while it was being loaded; run {load} loaded what it held before.',
    remedy:
      'Compare the file with the orders at the service, and load what is missing: `lockstep orders load FILE --account {account}`.',
  },
  NOT_A_PLAIN_FILE: {
    meaning: 'The entry of the folder is a link, a folder, a pipe or a device, and is not opened.',
    sentence: 'It {is}, so it was not opened.',
    remedy: 'Put a plain file in its place.',
  },
  UNEXPECTED: {
    meaning: 'The file could not be loaded because of a defect in Lockstep.',
    sentence: '{error}',
    remedy: REMEDIES.DEFECT,
  },
  CSV_BINARY: {
    meaning: 'The file is a spreadsheet, an archive or another binary file.',
    remedy: `Export it as CSV, ${AGAIN}`,
  },
  CSV_CELLS_DO_NOT_FIT: {
    meaning:
      'A column is named like the order_id or the amount, but its cells hold something else, or numbers that a spreadsheet has shortened.',
    sentence: '{problem}',
    remedy: `Choose its column, or none (\`--map field=\`), ${CHOOSE}`,
  },
  CSV_CHANGED: {
    meaning: 'The file changed while it was being read.',
    remedy: 'Wait until it is completely written, then load it again.',
  },
  CSV_COLUMNS_AMBIGUOUS: {
    meaning: 'Several columns look like the same field.',
    sentence: '{problem}',
    remedy: `Choose one ${CHOOSE}`,
  },
  CSV_DUPLICATE_HEADER: {
    meaning: 'Two columns have the same name.',
    remedy: 'Name the one to read by its number, such as #3, or rename one.',
  },
  CSV_EMPTY: { meaning: 'The file is empty or has blank lines only.', remedy: 'Give it a header and a row.' },
  CSV_ENCODING_UNCLEAR: {
    meaning: 'The file is not UTF-8, and its texts look wrong in the encoding that was assumed.',
    sentence: '{problem}',
    remedy:
      'Export it as UTF-8, or choose its encoding with `--encoding` or in the form of the console; for a watched folder, set `encoding` in the options of its sync.',
  },
  CSV_GZIP_BROKEN: { meaning: 'The gzip file is broken.', remedy: `Compress it again, ${AGAIN}` },
  CSV_HEADER_INVALID: {
    meaning: 'The header cannot be read.',
    sentence: '{problem}',
    remedy: 'Correct it, or choose its line with `--header-row` or in the form of the console.',
  },
  CSV_IS_DIRECTORY: { meaning: 'The path is a directory.', remedy: 'Name one CSV file.' },
  CSV_LINES_WITHOUT_ORDER: {
    meaning: 'Lines are to be combined into orders, and no column has the order_id.',
    sentence: '{problem}',
    remedy: `Choose the column of the order_id ${CHOOSE}`,
  },
  CSV_NOT_FOUND: { meaning: 'There is no such file.', remedy: 'Check its name and your current directory.' },
  CSV_NO_AMOUNT_COLUMN: {
    meaning: 'The file has columns of amounts, and none of them is named like the amount of an order.',
    sentence: '{problem}',
    remedy: `Choose its column, or none (\`--map amount=\`), ${CHOOSE}`,
  },
  CSV_NO_CUSTOMER_COLUMN: {
    meaning: 'No column identifies the customers of the orders.',
    sentence: '{problem}',
    remedy: `Choose it ${CHOOSE}`,
  },
  CSV_NO_LINK_COLUMN: {
    meaning: 'No column names the tasks or the items of the links.',
    remedy: 'Call them task_id and item_id in the file, or choose them with `--map`.',
  },
  CSV_NO_ORDER_COLUMN: {
    meaning: 'No column is named like an order_id, and a column with another name may have the numbers of the orders.',
    sentence: '{problem}',
    remedy: `Choose its column, or none (\`--map order_id=\`), ${CHOOSE}`,
  },
  CSV_NO_ROWS: {
    meaning: 'The file has a header and no rows.',
    remedy: 'If it should have rows, export it again and use that file.',
  },
  CSV_PRESET_UNFIT: {
    meaning: 'The file has no column of the chosen preset.',
    remedy: 'Choose another preset, or none.',
  },
  CSV_PRESET_UNKNOWN: {
    meaning: 'There is no preset of that name.',
    remedy: 'Name an existing preset, or `none`.',
  },
  CSV_TOO_LARGE: { meaning: 'The file is too large.', remedy: 'Split it.' },
  CSV_TOO_MANY_COLUMNS: {
    meaning: 'The file has too many columns.',
    remedy: 'Remove columns, or check the delimiter.',
  },
  CSV_TOO_MANY_LINES: { meaning: 'The file has too many lines.', remedy: 'Split it.' },
  CSV_TOO_SLOW: {
    meaning: 'The file takes too long to read, mostly because of its quotes.',
    remedy: 'Export it again, or split it.',
  },
  CSV_UNKNOWN_COLUMN: {
    meaning: 'A column that was chosen for a field is not in the file.',
    remedy: 'Name a column of the file.',
  },
  CSV_UNREADABLE: { meaning: 'The file cannot be read.', remedy: REMEDIES.PERMISSIONS },
  DISK_FULL: { meaning: 'The disk is full.', remedy: 'Free some space, then load the file again.' },
  FOLDER_UNREADABLE: {
    meaning: 'The watched folder cannot be read.',
    remedy: 'Create it, or check its permissions.',
  },
  FOLDER_UNSAFE: {
    meaning: 'The watched folder is a link, or was replaced while it was in use.',
    remedy: 'Check who may write there.',
  },
  FOLDER_UNWRITABLE: { meaning: 'Files cannot be moved within the watched folder.', remedy: REMEDIES.PERMISSIONS },
  PRESET_INVALID: {
    meaning: 'A file with a preset has an unknown key or a wrong value.',
    remedy: 'Correct it; the message names the key.',
  },
  PRESETS_UNREADABLE: {
    meaning: 'The directory with presets cannot be read.',
    remedy: 'Check `presets` in the settings, and its permissions.',
  },
  RESULTS_NOT_WRITTEN: {
    meaning: 'The results of a load could not be written.',
    remedy: 'Check the directory and its permissions.',
  },
} as const satisfies Reasons;
