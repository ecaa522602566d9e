/** Texts of the kinds that requests have, for tests. */
export const sentences = {
  english: [
    'The shipment left the warehouse on Tuesday and should reach you within three working days.',
    'Please summarise the attached report in five bullet points for a reader without a technical background.',
    'What are the main differences between optimistic and pessimistic locking?',
    'You are a helpful assistant. Answer briefly, and say so when you are not sure.',
    "I can't reproduce the bug on my machine; could it be related to yesterday's upgrade?",
    'Revenue grew by 12.4% to $3.2 million, while operating costs stayed flat at $1.9 million.',
  ],
  german: [
    'Die Geschwindigkeitsbegrenzung gilt auf allen Bundesstraßen außerhalb geschlossener Ortschaften.',
    'Bitte fassen Sie den Bericht in wenigen Sätzen zusammen und nennen Sie die wichtigsten Zahlen.',
    'Können wir den Termin auf nächsten Donnerstag verschieben? Am Mittwoch bin ich leider verhindert.',
  ],
  french: [
    'Le règlement intérieur précise les conditions dans lesquelles les salariés peuvent être remboursés.',
    'Pourriez-vous m’expliquer pourquoi la réponse diffère de celle d’hier ?',
    'Les résultats du troisième trimestre dépassent largement les prévisions de la direction.',
  ],
  spanish: [
    'El próximo lunes empezamos la migración de la base de datos a los nuevos servidores.',
    '¿Podrías traducir este párrafo al inglés y corregir los errores de ortografía?',
  ],
  polish: [
    'Proszę przygotować zestawienie wszystkich zamówień z ostatniego kwartału.',
    'Nie jestem pewien, czy ta odpowiedź jest zgodna z naszym regulaminem.',
  ],
  russian: [
    'Пожалуйста, подготовьте краткое описание проекта и отправьте его до конца недели.',
    'Скорость обработки запросов выросла вдвое после обновления серверов.',
  ],
  chinese: [
    '请用三句话总结这篇文章的主要内容,并指出作者的观点。',
    '人工智能正在改变我们的工作方式,很多重复性的任务已经可以自动完成。',
    '昨天的会议推迟到下周二下午三点,请大家准时参加。',
  ],
  japanese: [
    '来週の会議の資料を準備して、金曜日までに共有してください。',
    'このエラーの原因と、考えられる解決方法を教えてください。',
    '東京から大阪まで新幹線で約二時間半かかります。',
  ],
  korean: [
    '다음 주 회의 자료를 준비해서 금요일까지 공유해 주세요.',
    '이 오류의 원인과 가능한 해결 방법을 알려 주세요.',
  ],
  arabic: [
    'يرجى تلخيص التقرير المرفق في خمس نقاط رئيسية.',
    'تم تأجيل الاجتماع إلى يوم الثلاثاء القادم.',
  ],
  hindi: ['कृपया इस रिपोर्ट का सारांश पाँच बिंदुओं में लिखें।', 'बैठक अगले मंगलवार तक स्थगित कर दी गई है।'],
} as const satisfies Record<string, readonly string[]>;

export const codeLines: readonly string[] = [
  'export async function readBody(stream: Readable, limit: number): Promise<Buffer> {',
  '  const chunks: Buffer[] = [];',
  '  for await (const chunk of stream) {',
  "    if (total > limit) throw new RangeError('body is too large');",
  '  }',
  '}',
  'def parse_args(argv: list[str]) -> argparse.Namespace:',
  "    parser.add_argument('--verbose', action='store_true', help='print more')",
  '    return parser.parse_args(argv)',
  'SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id HAVING SUM(amount) > 100;',
  'if (!response.ok) { console.error("HTTP " + response.status); process.exit(1); }',
  '{"id": 4711, "tags": ["a", "b"], "ratio": 0.125, "nested": {"enabled": true}}',
  '#include <stdio.h>',
  '    printf("%d: %s\\n", index, names[index]);',
  '// TODO: remove once every client sends the header',
  '<div class="card"><h2>{{ title }}</h2><p>{{ text | truncate: 80 }}</p></div>',
  'kubectl get pods -n production --field-selector=status.phase=Running -o wide',
];
