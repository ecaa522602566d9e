import type { MadeObject } from '@sluice/contracts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import { askedModel } from './asked-model.ts';
import { idsInDocument } from './ids-in-reply.ts';
import { keptAt } from './kept-at.ts';
import type { OwnerNotes } from './owner-notes.ts';
import { accountOf } from './route-to-owner.ts';

export interface Making {
  readonly exchange: ModelExchange;
  readonly call: Pick<PreparedCall, 'origin' | 'target'>;
  readonly makes: readonly MadeObject[];
  /** At which it is billed, where that is not its standard one. */
  readonly tier?: string | undefined;
  /** Hears each that a document tells, as often as it is told. */
  readonly heard?: ((made: MadeObject, document: Record<string, unknown>) => void) | undefined;
}

/** By which name a target's provider is noted. */
export function noted({ saved, entry }: PreparedCall['target']): string {
  return saved === undefined ? entry.id : `@${saved.slug}`;
}

/** What is done with each document that may tell of what was made: it is the workspace's. Its promises never reject. */
export function noteMade(
  owners: OwnerNotes,
  { exchange: { key, subject }, call, makes, tier, heard }: Making,
): (document: Record<string, unknown>) => Promise<void>[] {
  const { target } = call;
  const workspaceId = key?.source.workspaceId ?? '';
  const organisationId = key?.source.organisationId ?? '';
  const provider = noted(target);
  const account = accountOf(target);
  // What was asked is what a live call counts for; of what the request only names that may have changed since.
  const servedBy = (told: string) =>
    subject.modelOfNamed === undefined
      ? target.servedModel || told
      : askedModel(subject.modelOfNamed, told);
  let last = '';
  return (document) =>
    idsInDocument(document, makes).flatMap(({ kind, id, model, made }) => {
      heard?.(made, document);
      // A stream tells of one with each of its pieces.
      const said = `${kind} ${id} ${model}`;
      if (said === last) return [];
      last = said;
      const note = {
        kind,
        workspaceId,
        origin: keptAt(id, call),
        provider,
        account,
        model: servedBy(model),
        ...(tier !== undefined && { tier }),
      };
      return owners.note(organisationId, id, note) ?? [];
    });
}
