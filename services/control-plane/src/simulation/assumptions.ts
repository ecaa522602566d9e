import type { SimulationTask } from './task.ts';

/** What a simulation takes for granted, in sentences for whoever reads its answer. */
export function assumptionsOf(task: SimulationTask): string[] {
  const { config, rateLimits, usageLimits, allowedModels, reader } = task;
  const hasLimits = rateLimits.length + usageLimits.length > 0;
  return [
    'The same requests come at the same times, whatever becomes of them.',
    'Costs before are those that were recorded, without adjustments made since; prices that administrators set for providers are as they are now.',
    'What was refused then, and used nothing, stays refused: it is among the undecided.',
    ...(config === undefined ? [] : ofConfigs),
    ...(config?.replaces === undefined && config !== undefined
      ? ['Every request is given the config, those that came with one of their own too.']
      : []),
    ...(hasLimits ? ofLimits : []),
    ...(allowedModels.length === 0
      ? []
      : [
          'Lists of models are held against the model that served a request, not against others that it names.',
        ]),
    ...(reader.seesOwnDataOnly
      ? ['Only requests of your own user are replayed; limits count those alone.']
      : []),
  ];
}

const ofConfigs = [
  'A target that was not asked is taken to answer, with the tokens that the request used; what it would have answered is not known (outcome_unknown).',
  'Choices by weight have no winner: where the weights or the targets are others, requests count by shares.',
  'Circuits are closed, but where the strategy is the same and its recorded choice says otherwise.',
  'Retries, hedged calls, guardrails and the cache do what they did then.',
  'Of a request without a saved config the model that served it is taken for the one that it named.',
  'Configs that a config refers to are as they are now.',
];

const ofLimits = [
  'Counters are empty at replayed_from. Limits in force then are not replayed: what they refused is not counted.',
  'Tokens and money count when a request has ended; what requests under way hold of a limit is not known.',
  'Requests whose way is not known count as they did then; shares of requests count as shares.',
];
