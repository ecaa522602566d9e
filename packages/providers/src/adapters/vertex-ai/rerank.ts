import type { JsonObject, JsonValue } from '@sluice/contracts';
import { projectOf, vertexModel } from '../../addresses/vertex-ai.ts';
import { ownAnswerId } from '../../codecs/own-answer-id.ts';
import type { BodyDialect, EndpointEntry } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';

const knownMembers = new Set(['model', 'query', 'documents', 'top_n', 'return_documents']);

/**
 * The ranking API of a sister service. Records are known by their place in
 * the list, which is their id.
 * https://cloud.google.com/generative-ai-app-builder/docs/ranking
 */
const ranking: BodyDialect = {
  encode(body, context) {
    const query = stringOf(body.query);
    const documents = arrayOf(body.documents);
    if (query === undefined) throw invalidField('query', 'must be a text');
    if (documents === undefined) throw invalidField('documents', 'must be a list');
    const records = documents.map((document, index) => ({
      id: String(index),
      ...recordOf(document, `documents[${index}]`),
    }));
    const encoded: JsonObject = {
      model: vertexModel(context.model).name,
      query,
      records,
      ignoreRecordDetailsInResponse: true,
    };
    const count = numberOf(body.top_n);
    if (count !== undefined) encoded.topN = count;
    return { body: encoded, dropped: Object.keys(body).filter((key) => !knownMembers.has(key)) };
  },

  decode(bytes, context) {
    const records = arrayOf(parseObject(bytes.toString('utf8'))?.records);
    if (records === undefined) return undefined;
    const documents = arrayOf(context.request.documents) ?? [];
    const isWanted = context.request.return_documents === true;
    const results = records.map((value) => {
      const record = objectOf(value) ?? {};
      const index = Number(record.id);
      return {
        index,
        relevance_score: numberOf(record.score) ?? 0,
        ...(isWanted ? { document: documentOf(documents[index]) } : {}),
      };
    });
    const body = {
      object: 'list',
      id: `rerank-${context.provider.id}-${ownAnswerId(context)}`,
      model: context.model,
      provider: context.provider.id,
      results: results.toSorted((a, b) => b.relevance_score - a.relevance_score),
      // A query counts for every hundred records.
      usage: { search_units: searchUnits(documents.length) },
    };
    return {
      body: Buffer.from(JSON.stringify(body)),
      facts: { model: context.model, units: { searchUnits: searchUnits(documents.length) } },
    };
  },
};

function searchUnits(records: number): number {
  return Math.max(1, Math.ceil(records / 100));
}

function recordOf(document: JsonValue, path: string): JsonObject {
  if (typeof document === 'string') return { content: document };
  const object = objectOf(document);
  const content = stringOf(object?.text) ?? stringOf(object?.content);
  if (content === undefined) throw invalidField(path, 'must be a text or an object with a text');
  const title = stringOf(object?.title);
  return title === undefined ? { content } : { title, content };
}

function documentOf(document: JsonValue | undefined): JsonValue {
  return typeof document === 'string' ? { text: document } : (document ?? null);
}

export const rerank: EndpointEntry = {
  format: 'vertex-ai/rerank',
  baseUrl: 'https://discoveryengine.googleapis.com',
  path: ({ setting }) =>
    `/v1/projects/${projectOf(setting)}/locations/global/rankingConfigs/default_ranking_config:rank`,
  dialect: ranking,
};
