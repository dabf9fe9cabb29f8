/** What the contract leaves open about every call: addresses, answers, lists, errors, limits and events. */
import type { Gap } from './gap.ts';

export const gapsInCalls: readonly Gap[] = [
  {
    id: 'prefix',
    where: 'Endpoints',
    question: 'Which prefix does an operation answer under?',
    ourService: 'Every operation under both.',
    clientFindsOut:
      'A 404 that may mean "no such path" is tried once under the other prefix, for each operation by itself.',
    override: 'accounts.*.prefix',
  },
  {
    id: 'write-answers',
    where: 'Endpoints',
    question: 'What do creates and updates answer?',
    ourService:
      'HTTP 200 with an envelope whose content is null, since the listing shows no content. So a create tells no id.',
    clientFindsOut: 'It takes an empty body or any envelope that reports no error for done, and finds ids by reading.',
  },
  {
    id: 'envelope-values',
    where: 'Endpoints',
    question: 'Which values do status and message take?',
    ourService: 'status is "success" or "error"; message is OK, or words for a person.',
    clientFindsOut:
      'It understands words, booleans and numbers as status, and success, ok, error and errors beside it.',
  },
  {
    id: 'list-place',
    where: 'Gaps in endpoint definitions',
    question: 'Where in an answer does the list stand?',
    ourService: 'content is the list; with only_body=true the list is the whole body.',
    clientFindsOut:
      'It looks for the array of records, however deep; where two have an equal claim it asks for the setting. Where the list once stood is remembered: when it stands elsewhere the run is paused.',
    override: 'accounts.*.dialect.listPath',
  },
  {
    id: 'only-body',
    where: 'Endpoints',
    question: 'Do reads without a listed only_body take it, and has a single record an envelope?',
    ourService: 'Every read takes it, and every read without it has the envelope.',
    clientFindsOut: 'It needs neither.',
  },
  {
    id: 'list-order',
    where: 'Limits',
    question: 'In which order do lists come, and does it hold still?',
    ourService: 'Oldest first, by id, always; a change to a record moves nothing.',
    clientFindsOut: 'Overlapping pages show whether the order holds; where it does not, the scan is not called proven.',
  },
  {
    id: 'rows-per-page',
    where: 'Limits',
    question: 'What are the default and the maximum of rows_per_page, and what is beyond the last page?',
    ourService:
      '100 and 1,000; more is cut to 1,000, less than 1 is an HTTP 400. Beyond the last page the list is empty.',
    clientFindsOut:
      'By the rows that come when it asks for its wished size. A page that is refused past the end (404, 400, 410, 422, or HTTP 200 with a failing envelope) counts as empty where the page after it holds nothing, it is refused again, and the first page is still answered.',
    override: 'syncs.*.options.rowsPerPage',
  },
  {
    id: 'tasks-paging',
    where: 'Limits',
    question: 'Is the first page of tasks 0 or 1, how many are on a page, and what comes without a page?',
    ourService: 'It is 0, a page has 100, and without a page the first one comes.',
    clientFindsOut: 'It reads the pages 0 and 1: where they are equal, or 0 is refused, the first is 1.',
    override: 'accounts.*.dialect.firstTaskPage',
  },
  {
    id: 'unpaged-lists',
    where: 'Endpoints',
    question: 'Do customers, orders, subtasks and search results come whole, however many there are?',
    ourService: 'Yes, streamed. What was committed before the reading began is in it.',
    clientFindsOut:
      'It reads them as a stream, with a cap on the bytes, and asks for a page further on: records that were not there yet tell of pages, and then it scans them. A list that is null, or left out of a success, is empty.',
  },
  {
    id: 'search-match',
    where: 'Contacts',
    question: 'How does a search match?',
    ourService:
      'Where the term is contained in the name, e-mail or phone as written; case makes no difference, accents do, and a first and last name together match too. A blank term is an HTTP 400.',
    clientFindsOut: 'It takes a search for a hint and compares the records itself.',
  },
  {
    id: 'read-after-write',
    where: 'Endpoints',
    question: 'Does a list show a write at once?',
    ourService: 'Yes, as soon as it was answered.',
    clientFindsOut: 'It cannot: it waits for twice the settle time before it believes that something is not there.',
    override: 'accounts.*.budget.settle',
  },
  {
    id: 'idempotency',
    where: 'Endpoints',
    question: 'Is a create that is sent twice applied twice?',
    ourService: 'Yes. There is no idempotency key.',
    clientFindsOut: 'It never sends a create again before it has read that the first one was not applied.',
  },
  {
    id: 'authentication',
    where: 'Authentication',
    question: 'What if API_KEY is missing or unknown, and is Authorization required?',
    ourService:
      'HTTP 401 for both, and the connection is closed; an address that tries many keys waits a second for each. Authorization is ignored.',
    clientFindsOut:
      'After a 401 or 403 it asks by other reads. If they are refused too, the account is suspended until one is accepted. If one is accepted, the operation is forbidden to the key, or one record was refused: how other records fare tells.',
    override: 'accounts.*.authorization',
  },
  {
    id: 'foreign-records',
    where: 'Authentication',
    question: 'What is answered for a record of another tenant?',
    ourService: 'The same as for one that never was: HTTP 404 with the same words.',
    clientFindsOut: 'It need not tell them apart.',
  },
  {
    id: 'errors',
    where: 'Errors',
    question: 'Which statuses and bodies do errors have?',
    ourService:
      'An envelope with status "error", and HTTP 400 for what was sent, 401 for the key, 404 for what does not exist, 405 for the method, 408 for a request that does not arrive in time, 409 for a conflict, 413 and 415 for the body, 414 for the path, 429 for the rate, 431 for the headers, 500 for a fault of ours.',
    clientFindsOut:
      'It understands HTTP 200 with a failing envelope, HTML and empty bodies as well; every doubt is read back.',
  },
  {
    id: 'rate-limit',
    where: 'Limits',
    question: 'How many requests may a key make?',
    ourService: 'Any number.',
    clientFindsOut:
      'It keeps to the configured budget, obeys 429 and Retry-After, and goes on slower where it meets them; RateLimit headers only lower its rate. With budget.mode discover it finds the limit itself.',
    override: 'accounts.*.budget.requests',
  },
  {
    id: 'events',
    where: 'Events',
    question: 'Does the service tell of changes?',
    ourService: 'No.',
    clientFindsOut: 'It scans, and compares with what it saw last.',
  },
];
