import { arrayOf, numberOf, objectOf } from '../json/json-access.ts';
import { type Piece, type SpeechFormat, silent } from './heard-event.ts';

export const openAiCompletionsSpeech: SpeechFormat = {
  hear(chunk) {
    const choices = arrayOf(chunk.choices);
    if (choices === undefined || choices.length === 0) return silent;
    const pieces: Piece[] = [];
    const over = new Set<number>();
    for (const [at, value] of choices.entries()) {
      const { text, index, finish_reason: reason } = objectOf(value) ?? {};
      const choice = numberOf(index) ?? 0;
      if (typeof reason === 'string') over.add(choice);
      if (typeof text !== 'string' || text === '') continue;
      const path = ['choices', at, 'text'];
      const drops = [['choices', at, 'logprobs']];
      pieces.push({ key: `said ${choice}`, kind: 'said', choice, text, path, drops });
    }
    return over.size === 0 ? { pieces } : { pieces, closes: ({ choice }) => over.has(choice) };
  },
  repeats: false,
  namesEvents: false,
  place: (_kind, { choice }) => ({ path: ['choices', choice, 'text'] }),
  callsAreText: true,
};
