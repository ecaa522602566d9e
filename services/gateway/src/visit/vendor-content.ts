import { type FileRequest, pathOf, VendorRefusal } from '@sluice/providers';
import { checkedBase, joinPaths } from '../calls/prepare/call-address.ts';
import type { AskVendor, VendorAnswer } from '../exchange/vendor-work.ts';
import { withoutTrailingSlashes } from '../http/request-target.ts';
import { answerBytesMax, askWhole, entryOf, send } from './prepare-files.ts';
import { proxyEntry } from './proxy-entry.ts';
import type { ContentPlace, VendorPlace } from './vendor-place.ts';

/** A file of the same provider's, wherever it keeps files. */
export async function openFile(
  id: string,
  asking: ContentPlace,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<VendorAnswer> {
  const { target, context, rules, addressBy, nowMs } = asking;
  const { files } = target.entry;
  if (files?.content === undefined) {
    const url = urlOf(asking, `/files/${encodeURIComponent(id)}/content`);
    return openRequest({ method: 'GET', url }, asking, askVendor, signal);
  }
  const base = checkedBase(
    target,
    entryOf(files, context, id),
    context,
    rules.hostRules,
    addressBy,
  );
  const place: VendorPlace = { ...asking, base };
  const request = await files.content(id, {
    facts: context,
    nowMs,
    base: withoutTrailingSlashes(`${base.origin}${base.pathname}`),
    hasCustomHost: target.customHost !== undefined,
    ask: (asked) => askWhole(asked, place, askVendor, signal),
    tidy: async () => {},
  });
  return openRequest(request, place, askVendor, signal);
}

/** @throws VendorRefusal for a status of 400 and more */
export async function openRequest(
  request: FileRequest,
  place: VendorPlace,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<VendorAnswer> {
  const answer = await send(request, place, askVendor, signal);
  if (answer.status < 400) return answer;
  throw new VendorRefusal(answer, await answer.readAll(answerBytesMax));
}

/** An address of OpenAI's, as the provider has it. */
export function urlOf({ base, target, context }: ContentPlace, path: string): string {
  const entry = proxyEntry(target);
  const own = entry === undefined ? path : pathOf(entry, { ...context, proxyPath: path });
  return `${base.origin}${joinPaths(base, own, '')}`;
}
