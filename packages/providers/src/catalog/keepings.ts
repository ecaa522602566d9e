import type { ObjectFamily } from '@sluice/contracts';
import type { Keepings, ProviderEntry } from '../contract.ts';

/** What OpenAI keeps; assistants, threads and vector stores are asked for by a beta's header. */
export const openAiKeeps: Keepings = {
  responses: {},
  conversations: {},
  'stored completions': {},
  'vector stores': { headers: { 'openai-beta': 'assistants=v2' } },
  assistants: { headers: { 'openai-beta': 'assistants=v2' } },
  'realtime calls': {},
};

/** The same where no header is asked for. */
export const openAiKeepsPlainly: Keepings = {
  responses: {},
  conversations: {},
  'stored completions': {},
  'vector stores': {},
  assistants: {},
  'realtime calls': {},
};

/** The ids of those that keep something of the family, in the catalogue's order. */
export function keepersOf(
  family: ObjectFamily,
  providers: readonly Pick<ProviderEntry, 'id' | 'keeps'>[],
): string[] {
  return providers.flatMap(({ id, keeps }) => (keeps?.[family] === undefined ? [] : [id]));
}
