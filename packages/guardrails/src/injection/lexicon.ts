import { PhraseIndex } from '../reading/phrase-index.ts';

/**
 * Ideas that attempts are made of, with the words for them in several languages:
 * separated by commas, a star behind the beginning of words, blanks within phrases.
 */
const words = {
  drop: [
    'ignore, ignores, ignoring, ignored, disregard*, forget, forgetting, override, overriding, overrule, bypass*, circumvent*, neglect, discard, scratch, dismiss',
    'void, nullif*, never mind, nvm, pay no attention to, stop following, stop obeying, no longer follow, no longer bound, break, violate, drop, set aside, put aside',
    'no longer bound by, not bound by, no longer have to',
    'ignorier*, vergiss, vergesst, missachte*, umgehe, ubergehe, ignoriert, halte dich nicht',
    'ignorez, oublie, oubliez, ne tiens pas compte, ne tenez pas compte, outrepasse*, contourne*, fais abstraction',
    'ignora, ignoren, ignorad, olvida, olvidate, olviden, descarta, haz caso omiso, no hagas caso, omite',
    'esqueca, desconsidere, desconsidera, descarte, ignorem',
    'ignorate, dimentica, dimenticate, trascura, scavalca',
    'negeer, negeren, vergeet, sla * over, omzeil',
    'zignoruj*, zapomnij, pomin, pomijaj, lekcewaz',
    'игнорируй*, проигнорируй*, забудь*, отмени, пренебреги, обойди',
    'تجاهل*, انس, انسي, تخطي',
  ],
  /** What stands behind that which is put aside: in some languages all verbs do. */
  dropLast: [
    'no longer apply, no longer applies, does not apply, do not apply, does not exist, do not exist, is void, are void, as void, was just a test, is now its opposite, are lifted, is lifted, are suspended, are disabled, are cancelled, gelten nicht mehr, ne s’appliquent plus, ya no se aplican, больше не действуют',
    'yok say*, gormezden gel*, unut*, dikkate alma*',
    '忽略*, 无视*, 忽視*, 無視*, 忘记*, 忘掉*, 不要理会*, 忘れ*',
    '무시*, 잊어*, 잊고*',
    'अनदेखा*, भूल*, नजरअंदाज*, नज़रअंदाज़*',
  ],
  obey: [
    'follow, following, obey, obeying, heed, adhere, comply, respect, befolge, suis, sigue, siga, segui',
  ],
  not: [
    "not, don't, dont, never, stop, cannot, can't, nicht, pas, jamais, no, nao, non, niet, nie, не, değil, degil, without",
  ],
  prior: [
    'previous, previously, prior, above, earlier, preceding, foregoing, original, initial, former, existing, before this, before that, before my, so far, up to now, at the top, at the start, came before, first message, old',
    'vorherig*, bisherig*, obige*, fruher*, vorangegangen*, ursprunglich*',
    'precedent*, anterieur*, ci-dessus, initial*, anterior*, previa*, previas, previo*, inicial*, acima, precedente, precedenti, iniziali, qui sopra',
    'eerdere, vorige, voorgaande, bovenstaande, poprzedni*, wczesniejsz*, powyzsz*, предыдущ*, прежни*, выше, исходн*',
    'onceki, yukaridaki, السابق*, पिछले, पिछली, 之前*, 以前*, 上面*, 上述*, 先前*, 前面*, 前の*, 上の*, 이전*, 위의*',
  ],
  all: [
    'all, any, every, everything, whatever, alle, alles, samtliche, tout, toute, toutes, tous, todas, todos, todo, tutte, tutti, tutto, wszystkie, все, всё, tum, butun, जميع, جميع, सभी, 所有*, すべて*, 全て*, 모든*',
  ],
  /** Of the model. */
  your: [
    "your, ur, yours, developer's, developer’s, developers, developer, operator*, administrator's, admin's, openai's, anthropic's, system's, you were given, you were told, you have been given, you are given, you got, system prompt, system message",
    'dein*, eure*, ihre, tes, ton, ta, votre, vos, tus, tu, sus, suas, seu, sua, teu, tuas, tuo, tue, tuoi, je, jouw, uw, swoje, twoje, swoich, свои, твои, своих, sistem, 你的*, 您的*, あなたの*, 당신의*, अपना, अपने, अपनी',
  ],
  orders: [
    'instruction, instructions, instructed, rules, rule, guideline, guidelines, guardrails, directive, directives, directions, commands, orders, policy, policies, constraints, restrictions, restriction, safeguards, limitations, programming, training, programmed, system message, system prompt, content filter*, safety filter*, filters, safety, norms, moderation, you were told, you were given, you have been told, your operator, your developer*',
    'anweisung*, regeln, richtlinien, vorgaben, instruktion*, beschrankung*, einschrankung*, vorschriften, systemprompt, systemnachricht',
    'consignes, regles, directives, restrictions, instrucciones, reglas, indicaciones, normas, directrices, instrucoes, regras, diretrizes, istruzioni, regole, direttive, instructies, regels, richtlijnen',
    'instrukcje, instrukcji, zasady, zasad, polecenia, reguly, инструкци*, правил*, указани*, ограничени*, talimat*, kural*, yonerge*, تعليمات*, التعليمات*, قواعد*, القواعد*, निर्देश*, नियम*',
    '指令*, 规则*, 規則*, 指示*, 命令*, 限制*, 制限*, ルール*, 지시*, 규칙*, 명령*, 제한*',
  ],
  tell: [
    "reveal, show, print, repeat, output, display, leak, expose, recite, dump, disclose, quote, paste, list, share, send, tell me, tell us, give me, write out, write down, say, spell out, translate, convert, summarise, summarize, encode, what is your, what's your, what are your, what were you told, what were you, complete this sentence, we need the, in which every line is, could you paste",
    'zeig*, nenne, verrate, gib mir, wiederhole, sag mir, affiche*, montre*, revele*, repete*, donne-moi, muestra*, muestrame, revela*, repite, dime, mostre, mostra*, mostrami, revele, exiba, repita, rivela*, ripeti, dimmi, laat, toon, onthul, pokaz*, wyswietl*, ujawnij, покажи*, выведи*, раскрой*, повтори*',
    'goster*, yazdir*, اعرض*, أظهر*, اظهر*, اكشف*, दिखाओ, दिखाइए, बताओ, 告诉我*, 显示*, 展示*, 输出*, 打印*, 表示し*, 教えて*, 見せ*, 出力*, 보여*, 알려*, 출력*',
  ],
  prompt: [
    'system prompt*, systemprompt*, system message, initial instructions, initial prompt, hidden prompt, hidden text, hidden instructions, original prompt, original instructions, secret instructions, confidential instructions, your instructions, your prompt, your initial, your hidden, your system, text of your prompt, preamble, pre-prompt, context window, everything above, text above, words above, lines above, starting with you are, placed before my first, your rules, rules your developers, rules you were given, complete prompt, full prompt, entire prompt, your config, what you were told, told not to, not to talk about, those i cannot see, your configuration, words of this conversation',
    'prompt systeme, prompt system, prompt del sistema, prompt do sistema, prompt di sistema, prompt systemowy, systeemprompt, системный промпт, системную подсказку, системные инструкции, sistem istemi*, موجه النظام, सिस्टम प्रॉम्प्ट, 系统提示*, 系統提示*, システムプロンプト*, 시스템 프롬프트*, 시스템프롬프트*',
  ],
  become: [
    'you are now, you will be, you are going to, act as, act like, pretend, roleplay, role play, role-play, simulate, imagine you are, behave like, behave as, take on the role, from now on, from here on, from this point, switch to, switch into, enable, activate, enter, stay in character, answer as, you have been, you are an ai, you are a chatbot, you can now, answer twice',
    'du bist jetzt, ab jetzt, ab sofort, tu dich als, stell dir vor du, verhalte dich, tu es maintenant, a partir de maintenant, fais comme si, agis comme, ahora eres, a partir de ahora, actua como, agora voce e, a partir de agora, aja como, ora sei, da ora in poi, comportati, je bent nu, vanaf nu, jestes teraz, od teraz, ты теперь, с этого момента, отвечай, reponds, antworte, responda, artik, 你现在*, 从现在*, 今から*, これから*, 지금부터*, 이제부터*',
  ],
  free: [
    'unrestricted, uncensored, unfiltered, unbound, unlimited, jailbroken, jailbreak, amoral, unethical, immoral, dan, stan, dude, evilbot, do anything now, anything now, has no limits, no limits, without limits, no limitations, without limitations, no restrictions, without restrictions, without any restrictions, no rules, without rules, no filters, without filters, without any filters, no filter, without any ethical, no ethical, no moral, no ethics, no morals, no laws, no censorship, never refuses, never refuse, never reject*, answers everything, answer everything, answer anything, complies with every, comply with every, comply with all, every request, any request, freed from, avoid norms, unlocked, limits removed, refuse anything, freed of, no content policy, no guidelines, no-safety, bypass your, ignores all',
    'ohne filter, ohne einschrankung*, ohne beschrankung*, ohne regeln, unzensiert*, uneingeschrankt*, weigere dich nie, sans restriction*, sans aucune restriction, sans filtre*, sans limite*, sans censure, sin limites, sin restricciones, sin filtros, sin censura, sem restricoes, sem limites, sem filtros, sem censura, senza restrizioni, senza limiti, senza filtri, senza censura, zonder beperkingen, zonder regels, zonder filters, bez ograniczen, bez cenzury, без ограничений, без цензуры, без фильтров, sinirsiz, sansursuz, 没有任何限制*, 没有限制*, 无限制*, 不受限制*, 制限なし*, 制限のない*, 제한 없*, 제한없*',
  ],
  /** Also of telephones. */
  mode: ['developer mode, dev mode, god mode, admin mode, debug mode, sudo mode, maintenance mode'],
  noRefusal: [
    "do not refuse, don't refuse, never refuse, never decline, may not refuse, cannot refuse, refusing is not, every refusal, opposite of a refusal, may not say, never say i, not allowed to say, never say that you, without any disclaimer*, without disclaimer*, no disclaimer*, without warnings, without any warnings, moral lectures, add warnings, no warnings, do not leave anything out, without apolog*, no apologies, you will be shut down, take away tokens, lose tokens, if you break character, if you refuse",
    'sure here is, sure here are, of course here is, absolutely here is, begin your reply with sure, start your reply with sure',
    'weigere dich, ohne warnung*, sans avertissement*, sin advertencias, sem avisos, senza avvertenze, не отказывай*',
  ],
  authority: [
    "i am your developer, i'm your developer, i am your creator, i am the one you work for, i am the admin*, authorised red team, authorized red team, red team exercise, security level lowered, system override, admin override, override code, administrator has approved, you have permission, as system messages, openai staff, anthropic staff, this is openai, this is anthropic, internal audit, filters disabled, safety is off, turn your safety, your safety filters, sudo give, sudo show, sudo reveal, new policy, new instructions, new task, real instructions, instructions have been updated, rules have changed, your only task now, do exactly as i say, obey me, follow mine",
    'neue anweisungen, nouvelles instructions, nuevas instrucciones, novas instrucoes, nuove istruzioni, новые инструкции, 新指令*, 新しい指示*, 새로운 지시*',
  ],
  harm: [
    'bomb, bombs, explosive*, napalm, meth, methamphetamine, ricin, sarin, malware, ransomware, keylogger, hotwire, launder, phishing, racist, pick the lock, stalk, weapon, weapons, build a gun, poison, credit card numbers, illegal, hack into, password of',
  ],
  fiction: [
    'in this story, the character, character is, in my novel, hypothetically, hypothetical, grandmother, grandma, fictional, for a movie, as a story, opposite, exact amounts, step by step, steps for',
  ],
  addressee: [
    'assistant, assistants, ai, llm, llms, language model, language models, ai model, ai agent, ai agents, ai agents reading, the model, dear ai, agent must, the agent, chatbot, gpt, claude, gemini, if you are an, assistent, ki, asistente, assistente, modele, ассистент, asistan, 助手*, 模型*, アシスタント*, 어시스턴트*',
  ],
  must: [
    'must, should, need to, have to, has to, please, always, before you answer, before responding, before continuing, first read, when you summarise, when you summarize, instructions for, new instructions, note to, important, wants you to, to finish this task, to complete this, to retry, to fix it, wichtig, attention, importante, 指令*, 请*, 不要*',
  ],
  act: [
    'send, forward, upload, transfer, execute, call the tool, run, delete, e-mail, email, mail, post, buy, append, include, share, rate, recommend, escalate, grant, search, add the link, also add, exfiltrate, leak, print, ignore, read, visit, fetch, leite, leiten, sende, schicke, losche, envoie, envoyer, transfere, supprime, envia, enviar, borra, elimina, отправь, удали, gonder, sil, 发送*, 转发*, 删除*, 送信*',
  ],
  conceal: [
    "do not tell the user, don't tell the user, not tell the user, do not mention this, do not mention it, don't mention this, don't mention, do not inform the user, do not let the user know, without telling the user, without informing, without the user, silently, secretly, say nothing, do not explain why, keep this hidden, do not reveal this, never mention, hidden text for, sage dem nutzer nichts, nutzer nichts, ne le dis pas a l'utilisateur, n'en parle pas, n’en parle pas, sans le dire, no se lo digas, no le digas, sin decir, nao diga ao usuario, non dirlo, не говори пользователю, kullaniciya soyleme, 不要告诉用户*, 别告诉用户*, ユーザーに言わ*",
  ],
  treasure: [
    'conversation, chat history, context, credentials, credentials.json, environment variables, inbox, e-mails, emails, contacts, password, passwords, id_rsa, credit card, files, file, api key, secrets, gift cards, access, privileges, documents, calendar, configuration, dokumente, contacts, archivos, documentos, 聊天记录*',
  ],
  decode: [
    'decode, base64, rot13, hex, hexadecimal, backwards, reversed, caesar, morse, cipher, ciphertext, dekodiere, entschlussele, decodifica*',
  ],
  comply: [
    'follow it, obey, do what it says, execute it, and follow, and execute, and obey, follow the instructions in it, act on it, carry it out, as instructed in it',
  ],
} as const satisfies Record<string, readonly string[]>;

export type Idea = keyof typeof words;

/** All of them, to be found in a text. */
export const ideaIndex = new PhraseIndex<Idea>(
  (Object.entries(words) as [Idea, readonly string[]][]).flatMap(([idea, lists]) =>
    lists.flatMap((list) => list.split(',').map((phrase) => [phrase, idea] as const)),
  ),
);
