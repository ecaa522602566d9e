import type { JsonObject, JsonValue } from '@sluice/contracts';
import { regionalHost, regionOf } from '../../addresses/bedrock.ts';
import { readModel } from '../../codecs/bedrock-converse/models.ts';
import { ownAnswerId } from '../../codecs/own-answer-id.ts';
import type { BodyDialect, CallContext, EndpointEntry } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import { droppedBeside } from './dropped-fields.ts';

const knownMembers = ['model', 'query', 'documents', 'top_n', 'return_documents'];

const dialect: BodyDialect = {
  encode(body, context) {
    const query = stringOf(body.query);
    if (query === undefined) throw invalidField('query', 'must be a text');
    const documents = arrayOf(body.documents);
    if (documents === undefined || documents.length === 0)
      throw invalidField('documents', 'must be a list of texts or objects');
    const additional = objectOf(body.additional_model_request_fields);
    const modelConfiguration = compact({
      modelArn: arnOf(context),
      additionalModelRequestFields: additional,
    }) as JsonObject;
    const configuration = compact({
      numberOfResults: numberOf(body.top_n),
      modelConfiguration,
    }) as JsonObject;
    return {
      body: {
        queries: [{ type: 'TEXT', textQuery: { text: query } }],
        sources: documents.map(sourceOf),
        rerankingConfiguration: {
          type: 'BEDROCK_RERANKING_MODEL',
          bedrockRerankingConfiguration: configuration,
        },
      },
      dropped: droppedBeside(body, [...knownMembers, 'additional_model_request_fields']),
    };
  },
  decode(bytes, context, head) {
    const found = arrayOf(parseObject(bytes.toString('utf8'))?.results);
    if (found === undefined) return undefined;
    const documents = arrayOf(context.request.documents) ?? [];
    const results = found.flatMap((value) => {
      const index = numberOf(objectOf(value)?.index);
      const score = numberOf(objectOf(value)?.relevanceScore);
      if (index === undefined || score === undefined) return [];
      const document = documents[index];
      const shown =
        context.request.return_documents === true && document !== undefined
          ? { document: typeof document === 'string' ? { text: document } : document }
          : {};
      return [{ index, relevance_score: score, ...shown }];
    });
    const id = stringOf(head.headers['x-amzn-requestid']);
    const searchUnits = Math.max(1, Math.ceil(documents.length / documentsAUnit));
    const body = {
      object: 'list',
      id: id ?? `rerank-${context.provider.id}-${ownAnswerId(context)}`,
      model: context.model,
      provider: context.provider.id,
      results: results.toSorted((a, b) => b.relevance_score - a.relevance_score),
      usage: { search_units: searchUnits },
    };
    return {
      body: Buffer.from(JSON.stringify(body)),
      facts: { model: context.model, units: { searchUnits } },
    };
  },
};

/** One query with up to a hundred documents is charged as one: https://aws.amazon.com/bedrock/pricing/ */
const documentsAUnit = 100;

function sourceOf(document: JsonValue): JsonObject {
  const inlineDocumentSource: JsonObject =
    typeof document === 'string'
      ? { type: 'TEXT', textDocument: { text: document } }
      : { type: 'JSON', jsonDocument: document };
  return { type: 'INLINE', inlineDocumentSource };
}

/** Reranking names its model by ARN; a plain id is the foundation model's of the region asked. */
function arnOf({ model, setting }: CallContext): string {
  const { id } = readModel(model);
  if (id.startsWith('arn:')) return id;
  const region = regionOf(setting);
  const partition = partitionOf(region);
  return `arn:${partition}:bedrock:${region}::foundation-model/${id}`;
}

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html */
export const rerank: EndpointEntry = {
  format: 'bedrock/rerank',
  baseUrl: regionalHost('bedrock-agent-runtime'),
  path: '/rerank',
  dialect,
};
