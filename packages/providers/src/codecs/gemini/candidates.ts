import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

/** What of a candidate is told beside its parts, as the provider names it. */
const tokenDetails = [
  'groundingMetadata',
  'safetyRatings',
  'citationMetadata',
  'urlContextMetadata',
  'avgLogprobs',
] as const;

export function detailsOf(candidate: JsonObject): JsonObject | undefined {
  const details: JsonObject = {};
  for (const name of tokenDetails) {
    const value = candidate[name];
    if (value !== undefined && value !== null) details[name] = value;
  }
  const message = stringOf(candidate.finishMessage);
  if (message !== undefined) details.finish_message = message;
  return Object.keys(details).length === 0 ? undefined : details;
}

/** The way back, for callers of this format. */
export function candidateDetails(details: JsonObject | undefined): JsonObject {
  if (details === undefined) return {};
  const result: JsonObject = {};
  for (const name of tokenDetails) {
    const value = details[name];
    if (value !== undefined) result[name] = value;
  }
  if (details.finish_message !== undefined) result.finishMessage = details.finish_message;
  return result;
}

/** The pages an answer rests on, as citations that callers of other formats know. `text`: the answer so far. */
export function citationsOf(candidate: JsonObject, text: string): JsonObject[] {
  const grounding = objectOf(candidate.groundingMetadata);
  const pages = arrayOf(grounding?.groundingChunks) ?? [];
  const supports = arrayOf(grounding?.groundingSupports) ?? [];
  const citations: JsonObject[] = [];
  for (const value of supports) {
    const support = objectOf(value);
    const segment = segmentOf(objectOf(support?.segment), text);
    for (const place of arrayOf(support?.groundingChunkIndices) ?? []) {
      const citation = citationOf(pages[numberOf(place) ?? -1], segment);
      if (citation !== undefined) citations.push(citation);
    }
  }
  if (supports.length > 0) return citations;
  for (const page of pages) {
    const citation = citationOf(page, {});
    if (citation !== undefined) citations.push(citation);
  }
  return citations;
}

/** Where in the answer: the provider counts bytes, other formats characters. */
function segmentOf(segment: JsonObject | undefined, text: string): JsonObject {
  const cited = stringOf(segment?.text);
  if (cited === undefined || cited === '') return {};
  const before = Buffer.from(text).subarray(0, numberOf(segment?.startIndex) ?? 0);
  const told = before.toString().length;
  const start = text.startsWith(cited, told) ? told : text.indexOf(cited);
  if (start === -1) return { cited_text: cited };
  return { cited_text: cited, start_index: start, end_index: start + cited.length };
}

function citationOf(page: JsonValue | undefined, segment: JsonObject): JsonObject | undefined {
  const object = objectOf(page);
  const web = objectOf(object?.web) ?? objectOf(object?.retrievedContext);
  const url = stringOf(web?.uri);
  if (url === undefined) return undefined;
  return compact({
    type: 'url_citation',
    url,
    title: stringOf(web?.title),
    ...segment,
  }) as JsonObject;
}

/** Log probabilities in OpenAI's shape, which the chat model keeps them in. */
export function logprobsOf(candidate: JsonObject): JsonObject | undefined {
  const result = objectOf(candidate.logprobsResult);
  const chosen = arrayOf(result?.chosenCandidates);
  if (chosen === undefined) return undefined;
  const top = arrayOf(result?.topCandidates) ?? [];
  const content = chosen.map((value, index) => ({
    ...tokenOf(value),
    top_logprobs: (arrayOf(objectOf(top[index])?.candidates) ?? []).map(tokenOf),
  }));
  return { content };
}

function tokenOf(value: JsonValue): JsonObject {
  const entry = objectOf(value);
  const token = stringOf(entry?.token) ?? '';
  return {
    token,
    logprob: numberOf(entry?.logProbability) ?? 0,
    bytes: [...Buffer.from(token)],
  };
}

export function logprobsResult(logprobs: JsonObject | undefined): JsonObject {
  const content = arrayOf(logprobs?.content);
  if (content === undefined) return {};
  const entries = content.map((value) => objectOf(value) ?? {});
  return {
    logprobsResult: {
      chosenCandidates: entries.map(candidateToken),
      topCandidates: entries.map((entry) => ({
        candidates: (arrayOf(entry.top_logprobs) ?? []).map((value) =>
          candidateToken(objectOf(value) ?? {}),
        ),
      })),
    },
  };
}

function candidateToken(entry: JsonObject): JsonObject {
  return { token: stringOf(entry.token) ?? '', logProbability: numberOf(entry.logprob) ?? 0 };
}
