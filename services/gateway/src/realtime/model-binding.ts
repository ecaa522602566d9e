import { GatewayError } from '@sluice/errors';
import { parseJsonBody } from '../http/json-body.ts';
import type { ModelFacts } from '../visit/targets/served-model.ts';
import { checkEventModels } from '../visit/targets/served-model.ts';

/** Any of these must stand in a frame that names a model, in whichever case or escape. */
const hints = ['odel', 'ODEL', 'eploy', 'EPLOY', 'ngine', 'ENGINE', '\\u'];

/**
 * Of a session at a provider that is limited to certain models: looks at what the
 * caller sends, and says why a frame must not go on.
 */
export class ModelBinding {
  readonly #facts: ModelFacts;
  /** An allowed model was named, by the address or in a frame. */
  #isSettled: boolean;

  /** @param isSettled the session was made by us, for a model that is allowed */
  constructor(facts: ModelFacts, isSettled = false) {
    this.#facts = facts;
    this.#isSettled = isSettled || facts.model !== '';
  }

  /** @throws GatewayError `provider.model_not_allowed`, `provider.model_unreadable`, `request.ambiguous_member` */
  check(frame: Buffer): void {
    if (this.#isSettled && !hints.some((hint) => frame.includes(hint))) return;
    const named = checkEventModels(this.#facts, frame, parsed(frame, this.#facts));
    if (!this.#isSettled && named === 0)
      throw new GatewayError('provider.model_unreadable', {
        field: 'event.session.model',
        message: 'The provider is limited to certain models: name one of them first.',
      });
    this.#isSettled = true;
  }
}

function parsed(frame: Buffer, { saved }: ModelFacts) {
  try {
    return parseJsonBody(frame);
  } catch (cause) {
    throw new GatewayError('provider.model_unreadable', {
      field: 'event',
      message: `The provider "@${saved?.slug}" is limited to certain models, and which one this event names cannot be read.`,
      cause,
    });
  }
}
