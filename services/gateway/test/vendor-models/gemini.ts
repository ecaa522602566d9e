import { refuseGemini, refuseGooglePath, refuseGoogleQuery } from '@sluice/testkit';
import { list, type Named, pieces, type Question, type Said, type Vendor } from './model.ts';

/** Google's generateContent. */
export const gemini: Vendor = {
  path: /:(?:streamG|g)enerateContent/,
  refuse: (body, path) =>
    refuseGooglePath(path) ?? refuseGoogleQuery(path) ?? refuseGemini(modelIn(path), body),
  read({ tools, toolConfig, generationConfig, contents }, path) {
    const config = (toolConfig as { functionCallingConfig?: { mode?: string } } | undefined)
      ?.functionCallingConfig;
    const { responseSchema, responseJsonSchema } = (generationConfig ?? {}) as Record<
      string,
      unknown
    >;
    return {
      model: modelIn(path),
      tools: list<{ functionDeclarations?: Named[] }>(tools).flatMap(({ functionDeclarations }) =>
        list<Named>(functionDeclarations).map(({ name = '' }) => name),
      ),
      isForced: config?.mode === 'ANY',
      hasSchema: (responseSchema ?? responseJsonSchema) !== undefined,
      results: list<{ parts: object[] }>(contents).flatMap(({ parts }) =>
        list<{ functionResponse?: object }>(parts).filter((part) => part.functionResponse),
      ).length,
      isStreamed: path.includes('streamGenerateContent'),
    };
  },
  reply: (said, question) => geminiReply(question, geminiPart(said), { finishReason: 'STOP' }),
  stream(said, question) {
    const told = 'text' in said ? pieces(said.text).map((text) => ({ text })) : [geminiPart(said)];
    const end = geminiReply(question, { text: '' }, { finishReason: 'STOP' });
    return [...told.map((part) => geminiReply(question, part)), end];
  },
};

function modelIn(path: string): string {
  return /models\/([^:/]+)/.exec(path)?.[1] ?? '';
}

function geminiPart(said: Said): object {
  if ('text' in said) return { text: said.text };
  return { functionCall: { name: said.name, args: said.args }, thoughtSignature: 'c2ln' };
}

function geminiReply({ model, results }: Question, part: object, end: object = {}): object {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...end }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
    modelVersion: model,
    responseId: `rsp_${results}`,
  };
}
