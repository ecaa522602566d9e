import type {
  FollowedWork,
  MadeObject,
  NamedObject,
  ObjectKind,
  ObjectOperation,
} from './operation.ts';

/** What passes through by a row of its own: nothing of it is set, translated or kept. */
export const passed = {
  about: 'object',
  body: 'raw',
  takes: 'nothing',
  format: 'raw',
  reply: 'any',
  errors: 'openai',
  scopes: ['completions.write'],
  spends: 'nothing',
  repeat: 'safe',
  hooks: { input: 'type', output: 'none' },
  cache: 'none',
  names: { model: 'address' },
  uses: 'nothing',
  objects: {},
} as const satisfies Omit<ObjectOperation, 'at'>;

/** Looks. */
export const look = passed;

/** Looks at all that an account has of a kind. */
export const list = (kind: ObjectKind) => ({ ...look, objects: { lists: kind } }) as const;

/** Deletes, and cancels: twice leaves what once leaves. */
export const remove = { ...passed, repeat: 'idempotent' } as const;

/** Makes, changes or adds: work of its own each time. */
export const write = {
  ...passed,
  takes: 'json',
  spends: 'request',
  repeat: 'fresh',
} as const;

/** The same, with texts that a model will read: checks judge them, and change nothing. */
export const say = { ...write, hooks: { input: 'guardrails', output: 'none' } } as const;

export const made = (
  kind: MadeObject['kind'],
  object: string | undefined,
  id = 'id',
): MadeObject => ({
  kind,
  id,
  object,
});
export const named = (
  kind: NamedObject['kind'],
  ...at: NamedObject['at'][]
): readonly NamedObject[] => at.map((place) => ({ kind, at: place }));

/** Work that goes on at the provider, and is followed until it has ended. */
export const goingOn = (object: MadeObject, follow: FollowedWork): MadeObject => ({
  ...object,
  follow,
});

export const file = (...at: NamedObject['at'][]) => named('file', ...at);
/** Files of rows, which may name objects as well. */
export const rowsOf = (
  rows: NonNullable<NamedObject['rows']>,
  ...at: NamedObject['at'][]
): readonly NamedObject[] => at.map((place) => ({ kind: 'file', at: place, rows }));
/** Where files may be named by their addresses. */
export const address = (...at: NamedObject['at'][]): readonly NamedObject[] =>
  at.map((place) => ({ kind: 'file', at: place, isAddress: true }));

/** What may also be everybody's, or nobody's that is known: it says nothing then of who is asked. */
export const orCommon = (kind: ObjectKind, ...at: NamedObject['at'][]): readonly NamedObject[] =>
  at.map((place) => ({ kind, at: place, mayBeCommon: true }));

/** Skills, of which vendors have their own. */
export const skill = (...at: NamedObject['at'][]) => orCommon('skill', ...at);

/** With further names beside those of the path. */
export function naming<Of extends { objects: { names: readonly NamedObject[] } }>(
  of: Of,
  further: readonly NamedObject[],
  makes: readonly MadeObject[] = [],
): Of {
  return { ...of, objects: { ...of.objects, names: [...of.objects.names, ...further], makes } };
}
