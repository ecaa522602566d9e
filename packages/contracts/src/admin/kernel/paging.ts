import { z } from 'zod';

/** A whole number that arrives as text in a query. */
export function queryInteger(min: number, max: number) {
  return (
    z
      .string()
      .regex(/^-?\d{1,15}$/, 'must be a whole number')
      // For the description of the API: what it is, not how it arrives.
      .meta({ type: 'integer', minimum: min, maximum: max })
      .transform(Number)
      .pipe(z.number().min(min).max(max))
  );
}

/** `current_page` from 0 and `page_size`; camelCase spellings are accepted too. */
export function pageQuery(sizes: { default: number; min?: number; max: number }) {
  const page = queryInteger(0, 1_000_000).optional();
  const size = queryInteger(sizes.min ?? 0, sizes.max).optional();
  return z
    .object({ current_page: page, page_size: size, currentPage: page, pageSize: size })
    .transform((query) => ({
      currentPage: query.current_page ?? query.currentPage ?? 0,
      pageSize: query.page_size ?? query.pageSize ?? sizes.default,
    }));
}

/** Lists for which no paging is published: whole up to a cap, and paged for who asks. */
export const cappedListQuery = pageQuery({ default: 1000, max: 1000 });

/** Lists whose published parameter is `page`, from 0; the usual names are taken too. */
export function pageFromZeroQuery(sizes: { default: number; max: number }) {
  return z
    .object({ page: queryInteger(0, 1_000_000).optional() })
    .and(pageQuery(sizes))
    .transform(({ page, ...usual }) => ({
      ...usual,
      currentPage: page ?? usual.currentPage,
    }));
}

/** The same for the lists that count pages from 1 and call the parameter `page`. */
export function pageFromOneQuery(sizes: { default: number; max: number }) {
  return z
    .object({
      page: queryInteger(1, 1_000_000).optional(),
      page_size: queryInteger(1, sizes.max).optional(),
    })
    .transform((query) => ({
      currentPage: (query.page ?? 1) - 1,
      pageSize: query.page_size ?? sizes.default,
    }));
}

/** `true`, `false`, `1` or `0` in a query. */
export const queryFlag = z
  .enum(['true', 'false', '1', '0'])
  .meta({ type: 'boolean' })
  .transform((text) => text === 'true' || text === '1');

export interface Page {
  currentPage: number;
  pageSize: number;
}

/** A comma-separated list, capped. */
export function commaList(itemsMax = 1000) {
  return z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .pipe(z.array(z.string().max(512)).max(itemsMax));
}

/** The tags something must have, as the JSON text of an object. */
export const tagsQuery = z
  .string()
  .max(8192)
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.issues.push({ code: 'custom', message: 'must be a JSON object', input: text });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.string()));
