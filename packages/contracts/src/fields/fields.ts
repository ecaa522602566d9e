import { z } from 'zod';
import { shapeNames } from './shape-names.ts';

const nameMax = 255;

/** Fields that several resources share. */
export const nameField = z
  .string()
  .trim()
  .min(1)
  .refine(
    // Characters, not halves of them: a name of 255 emoji is no longer than one of 255 letters.
    (name) => name.length <= nameMax || (name.length <= 2 * nameMax && [...name].length <= nameMax),
    `may hold ${nameMax} characters at most`,
  );
/** A switch that answers show as 0 or 1 in some places, and as a boolean in others: either may be sent back. */
export const flagField = z
  .union([z.literal(0), z.literal(1), z.boolean()])
  .transform(Boolean)
  .register(shapeNames, { name: 'Flag' });
export const descriptionField = z.string().max(2000);
export const slugField = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9_-]+$/, 'may hold letters, digits, "-" and "_" only')
  // Where a slug may stand an id may as well.
  .refine((slug) => !z.guid().safeParse(slug).success, 'must not have the form of a UUID');
/** A UUID or a slug: the caller may send either. */
export const referenceField = z.string().trim().min(1).max(255);
/** Part of a name. */
export const searchField = z.string().max(255);
/** The workspace a request is about, by UUID or slug; what is empty names none. */
export const workspaceField = z.string().trim().max(255);

/** An ISO 8601 date and time; without an offset it is UTC. */
export const instantField = z
  .string()
  .max(64)
  .meta({ format: 'date-time' })
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
  // A day like February 30 would be read as one of March.
  const day = new Date(`${match[1]}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== match[1]) return undefined;
  const date = new Date(`${match[1]}T${match[2] ?? '00:00:00'}${offset}`);
  return date >= earliest && date <= latest ? date : undefined;
}

/** What every store between here and the ledger can hold: there is no year 0 in Postgres. */
const earliest = new Date('0001-01-01T00:00:00Z');
const latest = new Date('9999-12-31T23:59:59.999Z');

export const headerNameField = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'is not a header name');

/** They say how the rest of a request is sent: with one of them in it none is. */
const ofTheMessage = new Set([
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** What a header's value may be, as we send it. */
export const headerValue = {
  pattern: /^[ -~\u00a0-\u00ff]*$/,
  message:
    'must have only characters that HTTP headers take: no control characters, none beyond Latin-1',
} as const;

/** Values as headers carry them; names as HTTP allows them. */
export const headersField = z.record(
  headerNameField.refine(
    (name) => !ofTheMessage.has(name.toLowerCase()),
    'is set by whoever sends the request',
  ),
  z.string().max(8192).regex(headerValue.pattern, headerValue.message),
);

/**
 * An http(s) URL. Whether the host may be called is decided where calls are
 * made. A password in it would be a secret that is stored and shown in clear.
 */
export const hostField = z
  .string()
  .max(2048)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an http or https URL',
  )
  .refine(
    (text) =>
      !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
    'must not hold a user name or password',
  );

export const metadataField = z
  .record(z.string().min(1).max(128), z.union([z.string().max(1024), z.number(), z.boolean()]))
  .refine((metadata) => Object.keys(metadata).length <= 100, 'may hold 100 entries at most');

export const tagsField = z.record(z.string().max(128), z.string().max(255));

/** An instant in an answer: ISO 8601 with milliseconds and `Z`. */
export const instantText = z.iso.datetime({ precision: 3 });

/** An e-mail address as it is shown; a name without a dot, such as `localhost`, is a host too. */
export const emailText = z.email({ pattern: z.regexes.html5Email });
/** The same as it is sent: addresses that differ only in case are one person. */
export const emailField = emailText.max(320).toLowerCase();
