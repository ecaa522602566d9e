import { operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { PromptCompiler } from '../../compiled/prompt-compiler.ts';
import { expectModelCall } from '../../exchange/exchange.ts';
import type { Stage } from '../pipeline.ts';

/** The saved prompt that the path names. It says which endpoint its request is for. */
export function findPrompt(prompts: PromptCompiler): Stage {
  return (exchange, next) => {
    expectModelCall(exchange);
    if (exchange.bundle === undefined) throw new Error('findPrompt runs after authenticate');
    const prompt = prompts.find(exchange.bundle, referenceIn(exchange.subject.pathname));
    exchange.subject.prompt = prompt;
    const endpoint = prompt.template.kind === 'text' ? 'complete' : 'chatComplete';
    exchange.subject.operation = operations[endpoint];
    return next();
  };
}

function referenceIn(pathname: string): string {
  const [, reference = ''] = /^\/v1\/prompts\/([^/]+)\//.exec(pathname) ?? [];
  try {
    return decodeURIComponent(reference);
  } catch (error) {
    throw new GatewayError('prompt.not_found', { field: 'path.promptId', cause: error });
  }
}
