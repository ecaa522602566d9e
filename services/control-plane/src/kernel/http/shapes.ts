import type { Page } from '@sluice/contracts/admin';

/** The envelope of most lists. */
export function listEnvelope<Row extends object>(data: Row[], total: number) {
  return { object: 'list' as const, total, data };
}

/** The envelope of lists that say whether there is another page. */
export function withMore<T>(data: T[], total: number, page: Page) {
  return { data, total, has_more: (page.currentPage + 1) * page.pageSize < total };
}

export function paged(page: Page): { skip: number; take: number } {
  return { skip: page.currentPage * page.pageSize, take: page.pageSize };
}

/** A page of rows that are all there. */
export function pageOf<T>(rows: readonly T[], page: Page): T[] {
  const { skip, take } = paged(page);
  return rows.slice(skip, skip + take);
}

export function instant(date: Date): string {
  return date.toISOString();
}

export function optionalInstant(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
