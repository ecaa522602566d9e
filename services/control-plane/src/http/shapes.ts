import type { Page } from '@sluice/contracts';

/** The envelope of most lists. */
export function listEnvelope<Row extends object>(data: Row[], total: number) {
  return { object: 'list' as const, total, data };
}

export function paged(page: Page): { skip: number; take: number } {
  return { skip: page.currentPage * page.pageSize, take: page.pageSize };
}

export function instant(date: Date): string {
  return date.toISOString();
}

export function optionalInstant(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
