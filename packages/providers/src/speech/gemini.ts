import type { JsonObject } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf } from '../json/json-access.ts';
import { type Piece, type SpeechFormat, silent } from './heard-event.ts';
import { wholePieces } from './whole-pieces.ts';

export const geminiSpeech: SpeechFormat = {
  hear(chunk) {
    const candidates = arrayOf(chunk.candidates);
    if (candidates === undefined) return silent;
    const over = new Set<number>();
    const pieces = candidates.flatMap((value, at) => {
      const candidate = objectOf(value) ?? {};
      const choice = numberOf(candidate.index) ?? at;
      if (typeof candidate.finishReason === 'string') over.add(choice);
      return candidatePieces(candidate, choice, at);
    });
    return over.size === 0 ? { pieces } : { pieces, closes: ({ choice }) => over.has(choice) };
  },
  repeats: false,
  namesEvents: false,
  place: (kind, { choice, text }) => ({
    path: ['candidates', choice, 'content', 'parts', text, kind === 'said' ? 'text' : kind],
  }),
  callsAreText: false,
};

function candidatePieces(candidate: JsonObject, choice: number, at: number): Piece[] {
  const parts = arrayOf(objectOf(candidate.content)?.parts) ?? [];
  const here = ['candidates', at] as const;
  // Both quote the words again.
  const drops = [
    [...here, 'logprobsResult'],
    [...here, 'groundingMetadata', 'groundingSupports'],
  ];
  return parts.flatMap((value, step): Piece[] => {
    const part = objectOf(value) ?? {};
    const path = [...here, 'content', 'parts', step] as const;
    const { text, thought, functionCall, executableCode, codeExecutionResult } = part;
    const kind = thought === true ? 'thought' : 'said';
    const said: Piece[] =
      typeof text === 'string' && text !== ''
        ? [{ key: `${kind} ${choice}`, kind, choice, text, path: [...path, 'text'], drops }]
        : [];
    return [
      ...said,
      ...wholePieces(objectOf(functionCall)?.args, { kind: 'called', choice }, [
        ...path,
        'functionCall',
        'args',
      ]),
      ...wholePieces(objectOf(executableCode)?.code, { kind: 'written', choice }, [
        ...path,
        'executableCode',
        'code',
      ]),
      ...wholePieces(objectOf(codeExecutionResult)?.output, { kind: 'beside', choice }, [
        ...path,
        'codeExecutionResult',
        'output',
      ]),
    ];
  });
}
