import { z } from 'zod';
import type { Access, AuditName } from './access.ts';
import type { ErrorForm } from './error-bodies.ts';
import type { Tag } from './tags.ts';

/**
 * One operation of the admin API as it is published: where it is, what it
 * takes, what it answers, who may call it. Validation, authorisation, types,
 * the OpenAPI document and the contract test all come from here.
 *
 * `operationId`  the published name; generated clients are made of it
 * `summary`      what it does, in a line for who calls it
 * `tag`          the group it stands in; a new one is a line of `tags.ts`
 * `path`         below `/v1`, parameters in braces
 * `pathValues`   all that a parameter of the path may be, where it names a kind; with anything else it is no path of ours
 * `atRoot`       the path is not below `/v1`
 * `plane`        who answers: `control` (the admin API), `data` (the gateway), `public` (no key needed)
 * `access`       who may call it; without, it needs no key of ours or is not answered by the control plane
 * `audit`        what the change is called in the audit log
 * `query`        takes the parameters as text; without one, none is looked at
 * `body`         without one, a body is not looked at; one that may be absent has a `prefault`
 * `listName`     the field of the body for the list that is shown under `data`: sent back as `data` it means the same
 * `answer`       the body of a 200; what cannot be told is optional, not null, unless it is published as nullable
 * `lines`        answers `application/x-ndjson`: each line has the shape of `answer`, and there may be none
 * `errors`       the published statuses; 400, 401, 403, 404, 409 and 500 where none is published
 * `errorForm`    how its errors are written, where that is not the admin API's usual way
 * `added`        not in the published description: ours, with what it is for
 */
export interface Endpoint<
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
> {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: Tag;
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly pathValues?: Readonly<Record<string, readonly string[]>>;
  readonly atRoot?: boolean;
  readonly plane?: 'control' | 'data' | 'public';
  readonly access?: Access;
  readonly audit?: AuditName;
  readonly query?: Q;
  readonly body?: B;
  readonly listName?: string;
  readonly answer: A;
  readonly lines?: true;
  readonly errors?: readonly number[];
  readonly errorForm?: ErrorForm;
  readonly added?: string;
}

/** One that the control plane answers, to whom it lets in. */
export interface GuardedEndpoint<
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
> extends Endpoint<Q, B, A> {
  readonly access: Access;
}

/** Keeps the exact types of the schemas. */
export function endpoint<
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  A extends z.ZodType = z.ZodType,
>(definition: GuardedEndpoint<Q, B, A>): GuardedEndpoint<Q, B, A> {
  return definition;
}

/** The same for one that answers lines, as many as there are. */
export function linesEndpoint<
  Q extends z.ZodType = z.ZodUndefined,
  A extends z.ZodType = z.ZodType,
>(
  definition: GuardedEndpoint<Q, z.ZodUndefined, A> & { method: 'get' },
): GuardedEndpoint<Q, z.ZodUndefined, A> & { readonly lines: true } {
  return { ...definition, lines: true };
}

/** The same for one that anybody may call, or that the gateway answers by itself. */
export function openEndpoint<
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  A extends z.ZodType = z.ZodType,
>(
  definition: Endpoint<Q, B, A> & { plane: 'data' | 'public'; access?: undefined },
): Endpoint<Q, B, A> {
  return definition;
}

/** The media type of answers of lines. */
export const linesType = 'application/x-ndjson';

/** What nearly every change answers. */
export const nothing = z.strictObject({});
