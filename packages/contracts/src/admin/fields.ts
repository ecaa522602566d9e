import { z } from 'zod';

/** Fields that several resources share. */
export const nameField = z.string().trim().min(1).max(255);
export const descriptionField = z.string().max(2000);
export const slugField = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9_-]+$/, 'may hold letters, digits, "-" and "_" only');
/** A UUID or a slug: the caller may send either. */
export const referenceField = z.string().trim().min(1).max(255);

/** An ISO 8601 date and time; without an offset it is UTC. */
export const instantField = z
  .string()
  .max(64)
  .transform((text, context) => {
    const date = parseInstant(text);
    if (date !== undefined) return date;
    context.issues.push({
      code: 'custom',
      message: 'must be an ISO 8601 date and time',
      input: text,
    });
    return z.NEVER;
  });

function parseInstant(text: string): Date | undefined {
  // An unencoded `+` of an offset arrives as a space.
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|z|[+\- ]?\d{2}:?\d{2})?)?$/.exec(
      text.trim(),
    );
  if (match === null) return undefined;
  const offset =
    match[3] === undefined || /^z$/i.test(match[3])
      ? 'Z'
      : match[3]
          .trim()
          .replace(/^(?=\d)/, '+')
          .replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
  const date = new Date(`${match[1]}T${match[2] ?? '00:00:00'}${offset}`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Values as headers carry them; names as HTTP allows them. */
export const headersField = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'is not a header name'),
  z
    .string()
    .max(8192)
    .regex(/^[^\p{Cc}]*$/u, 'must not hold control characters'),
);

/** An http(s) URL. Whether the host may be called is decided where calls are made. */
export const hostField = z
  .string()
  .max(2048)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an http or https URL',
  );

export const metadataField = z
  .record(z.string().min(1).max(128), z.union([z.string().max(1024), z.number(), z.boolean()]))
  .refine((metadata) => Object.keys(metadata).length <= 100, 'may hold 100 entries at most');
