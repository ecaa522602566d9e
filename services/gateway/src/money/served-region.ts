import type { ReplyFacts, SettingName } from '@sluice/providers';
import type { Target } from '../exchange/target.ts';

/** Providers whose prices differ by the place that the credential is for. */
const settings: ReadonlyMap<string, SettingName> = new Map([
  ['bedrock', 'aws-region'],
  ['bedrock-mantle', 'aws-region'],
  ['vertex-ai', 'vertex-region'],
]);

/** OpenAI's hosts that keep data in one part of the world. */
const regionalHost = /^https:\/\/([a-z]{2})\.api\.openai\.com(?:[/:]|$)/;

/** Where a call was served: as the provider says, else where it was sent; empty = nobody says. */
export function servedRegion(target: Target, facts: ReplyFacts | undefined): string {
  if (facts?.servedRegion !== undefined) return facts.servedRegion;
  const name = settings.get(target.entry.id);
  if (name !== undefined) return target.setting(name) ?? '';
  if (target.entry.id !== 'openai' || target.customHost === undefined) return '';
  return regionalHost.exec(target.customHost.url)?.[1] ?? '';
}
