/**
 * Which records a list call requests, by the contract's `page` and `rows_per_page`, and our choices where the contract
 * is silent.
 */
import type { Page } from './store/lists.ts';
import type { Behaviour } from './testbed/behaviour.ts';

export interface AskedPage {
  readonly page?: number | undefined;
  readonly rows_per_page?: number | undefined;
}

export interface Paging {
  /** Pages of contacts start at 0 (docs/contract.md, "Limits" 1). A size above the maximum is reduced to it. */
  contacts(asked: AskedPage): Page | 'all';
  /** Tasks have no size parameter. Without `page`, the first page is returned. */
  tasks(asked: AskedPage): Page | 'all';
}

export function pagingOf(behaviour: Behaviour): Paging {
  const { maxRowsPerPage, defaultRowsPerPage, ignorePaging, ignoreRowsPerPage, tasksFirstPage } = behaviour;
  const everything = ignorePaging && ignoreRowsPerPage;
  const defaultSize = Math.min(defaultRowsPerPage, maxRowsPerPage);
  return {
    contacts(asked) {
      if (everything) return 'all';
      const size = ignoreRowsPerPage ? defaultSize : Math.min(asked.rows_per_page ?? defaultSize, maxRowsPerPage);
      return { page: ignorePaging ? 0 : (asked.page ?? 0), size };
    },
    tasks(asked) {
      if (everything) return 'all';
      const page = Math.max(0, (asked.page ?? tasksFirstPage) - tasksFirstPage); // if pages start at 1, page 0 is the first page too
      return { page: ignorePaging ? 0 : page, size: defaultSize };
    },
  };
}
