/** What the contract leaves open about every call: addresses, answers, lists, errors, limits and events. */
import type { Gap } from './gap.ts';

export const gapsInCalls = [
  {
    id: 'prefix',
    where: 'Endpoints',
    question: 'Which prefix does an operation use?',
    ourService: 'Every operation answers under both prefixes.',
    clientDoes:
      'If an operation gets a 404 that may mean "no such path", the client tries the other prefix once. It does so for each operation separately.',
    override: 'accounts.*.prefix',
  },
  {
    id: 'write-answers',
    where: 'Endpoints',
    question: 'What do creates and updates answer?',
    ourService:
      'HTTP 200 with an envelope whose content is null, because the listing shows no content. The answer to a create therefore has no id.',
    clientDoes:
      'It treats an empty body, or any envelope that reports no error, as success, and finds ids by reading. If the answer to a create has an id, and the list does not show the record, the record is read by this id.',
  },
  {
    id: 'envelope-values',
    where: 'Endpoints',
    question: 'Which values do status and message take?',
    ourService: 'status is "success" or "error"; message is "OK" or a sentence for people.',
    clientDoes:
      'It understands words, booleans and numbers as status, and the members success, ok, error and errors beside it.',
  },
  {
    id: 'list-place',
    where: 'Gaps in endpoint definitions',
    question: 'Where in an answer is the list?',
    ourService: 'content is the list; with only_body=true the list is the whole body.',
    clientDoes:
      'It looks for the array of records at any depth, or for an object of records whose keys are ids or numbers. If several could be the list, the setting has to name it. The client remembers the path; if the list later appears elsewhere, the run is paused.',
    override: 'accounts.*.dialect.listPath',
  },
  {
    id: 'only-body',
    where: 'Endpoints',
    question: 'Which reads accept only_body, and does a single record have an envelope?',
    ourService: 'Every read accepts it, and every read without it has the envelope.',
    clientDoes: 'It works with and without both.',
  },
  {
    id: 'list-order',
    where: 'Limits',
    question: 'In which order are lists, and is the order stable?',
    ourService: 'Always oldest first, by id. A change to a record does not move it.',
    clientDoes:
      'Overlapping pages show whether the order is stable. If it is not, the scan is not called proven. Records that an update moves to the beginning are found there at the end of the scan.',
  },
  {
    id: 'rows-per-page',
    where: 'Limits',
    question: 'What are the default and the maximum of rows_per_page, and what is beyond the last page?',
    ourService:
      'The default is 100 and the maximum is 1,000. A larger value is reduced to 1,000; a value below 1 is an HTTP 400. Beyond the last page the list is empty.',
    clientDoes:
      'It asks for the page size that it wants and counts the rows it receives. If the service refuses that size, or fails, before it has answered a page, the client asks for smaller pages. A page with fewer rows is not the end: it reads until a page is empty, or until three page numbers in a row give the same page again after a short one. A scan that found fewer records than the service reports is unproven. A refused page (404, 400, 410, 422, or HTTP 200 with a failing envelope) counts as empty if three conditions hold: a second request for it is refused too, the page after it has no records, and the first page is still answered.',
    override: 'syncs.*.options.rowsPerPage',
  },
  {
    id: 'tasks-paging',
    where: 'Limits',
    question:
      'Is the first page of tasks 0 or 1, how many tasks are on a page, and what does a call without a page return?',
    ourService: 'The first page is 0, a page has 100 tasks, and a call without a page returns the first one.',
    clientDoes:
      'It reads pages 0 and 1. If they are equal, or page 0 is refused, the first page is 1. It reads until a page is empty. If page numbers are ignored and the answer says that more tasks follow, it reads by an offset, or by the cursor or link of each answer.',
    override: 'accounts.*.dialect.firstTaskPage',
  },
  {
    id: 'unpaged-lists',
    where: 'Endpoints',
    question: 'Are lists of customers, orders, subtasks and search results complete, whatever their size?',
    ourService: 'Yes, and they are streamed. A list has everything that was committed before the read began.',
    clientDoes:
      'It reads them as a stream, with a limit on the bytes. Then it asks for a later page. The list is paged if that page has new records, or if the answer reports a larger total, several pages or a next page. The client scans a paged list by page numbers, or else by an offset, or by the cursor or link of each answer. A list is empty if it is null, missing from a successful answer, or answered with HTTP 204.',
  },
  {
    id: 'search-match',
    where: 'Contacts',
    question: 'How does a search match?',
    ourService:
      'A record matches if its name, e-mail or phone contains the term as written. Case is ignored, accents are not, and a first and last name together match too. A blank term is an HTTP 400.',
    clientDoes: 'It uses a search only as a hint and compares the records itself.',
  },
  {
    id: 'read-after-write',
    where: 'Endpoints',
    question: 'Does a list show a write immediately?',
    ourService: 'Yes, as soon as the write is answered.',
    clientDoes:
      'It waits for twice the settle time before it concludes that a record does not exist. It asks caches for fresh answers (Cache-Control: no-cache). If a cache answers anyway, as the header Age shows, it reads again later.',
    override: 'accounts.*.budget.settle',
  },
  {
    id: 'idempotency',
    where: 'Endpoints',
    question: 'Is a create that is sent twice applied twice?',
    ourService: 'Yes. There is no idempotency key.',
    clientDoes:
      'It never repeats a create that was acknowledged. If the outcome is unknown, it repeats the create only after a read has shown that the first one was not applied.',
  },
  {
    id: 'authentication',
    where: 'Authentication',
    question: 'What if API_KEY is missing or unknown, and is Authorization required?',
    ourService:
      'HTTP 401 for both, and the connection is closed. An address that sends many wrong keys waits a second for each further 401. Authorization is ignored.',
    clientDoes:
      'After a 401 or 403 it tries other reads. If they are refused too, the account is suspended until one succeeds. If one succeeds, either the key may not use the operation, or only one record was refused; calls for other records show which.',
    override: 'accounts.*.authorization',
  },
  {
    id: 'foreign-records',
    where: 'Authentication',
    question: 'What is the answer for a record of another tenant?',
    ourService: 'The same as for a record that never existed: HTTP 404 with the same message.',
    clientDoes: 'It treats the record as one that does not exist.',
  },
  {
    id: 'errors',
    where: 'Errors',
    question: 'Which statuses and bodies do errors have?',
    ourService:
      'An envelope with status "error", and HTTP 400 for invalid input, 401 for the key, 404 for a record or path that does not exist, 405 for the method, 408 for a request that does not arrive in time, 409 for a conflict, 413 and 415 for the body, 414 for the path, 429 for the rate, 431 for the headers, 500 for an internal error.',
    clientDoes:
      'It also understands HTTP 200 with a failing envelope, HTML and empty bodies. If the outcome of a write is unknown, it reads the record back.',
  },
  {
    id: 'rate-limit',
    where: 'Limits',
    question: 'How many requests may a key make?',
    ourService: 'Any number.',
    clientDoes:
      'It keeps to the configured budget. After a 429, or a 403 or a failing envelope that reports the limit, it waits as Retry-After says, and slows down. RateLimit headers can only lower its rate. With budget.mode discover it finds the limit itself.',
    override: 'accounts.*.budget.requests',
  },
  {
    id: 'events',
    where: 'Events',
    question: 'Does the service send events about changes?',
    ourService: 'No.',
    clientDoes: 'It scans the lists and compares them with what it saw last.',
  },
] as const satisfies readonly Gap[];
