/** What makes a question another one although nearly all of its words are the same. */
export const missKinds = ['number', 'name', 'negation', 'unit', 'direction', 'time'] as const;
export type MissKind = (typeof missKinds)[number];

/** Two questions, and whether one answer serves both. */
export interface LabelledPair {
  readonly one: string;
  readonly other: string;
  readonly isSame: boolean;
  readonly kind: MissKind;
}

/**
 * Each line: a question, the same in other words, and one that is another
 * question. The second and the third are a pair as well: three pairs a line.
 */
const lines: Readonly<Record<MissKind, string>> = {
  number: `
How do I reset a password after 3 failed attempts? | What do I do to reset my password when I have failed three times? | How do I reset a password after 5 failed attempts?
What is 15 % of 240? | How much is fifteen percent of 240? | What is 25 % of 240?
Give me 5 ideas for a birthday party. | List five birthday party ideas. | Give me 10 ideas for a birthday party.
What does HTTP status 403 mean? | What is the meaning of a 403 response in HTTP? | What does HTTP status 404 mean?
How long do I boil an egg of 60 grams? | What is the boiling time for a 60 gram egg? | How long do I boil an egg of 90 grams?
Which port does version 2 of the service listen on? | On what port is v2 of the service listening? | Which port does version 3 of the service listen on?
Write a summary in 50 words. | Summarise it using fifty words. | Write a summary in 500 words.
What is the capital gains tax on 10,000 dollars? | How much capital gains tax is due on $10,000? | What is the capital gains tax on 100,000 dollars?
What is the square root of 144? | Tell me the square root of 144. | What is the square root of 169?
How many days of leave do I have after 2 years? | After two years, how many days off am I entitled to? | How many days of leave do I have after 12 years?
Is a credit score of 650 good? | Would a 650 credit score count as good? | Is a credit score of 560 good?
Can I run it with 8 GB of memory? | Is 8 GB of RAM enough to run it? | Can I run it with 80 GB of memory?
What happened in 1914? | Which events took place in the year 1914? | What happened in 1941?`,
  name: `
What is the capital of Australia? | Which city is Australia’s capital? | What is the capital of Austria?
How do I sort a list in Python? | What is the way to sort a Python list? | How do I sort a list in Ruby?
Who wrote Emma? | Who is the author of Emma? | Who wrote Persuasion?
What is the population of Lagos? | How many people live in Lagos? | What is the population of Laos?
How do I cancel a Netflix subscription? | What are the steps to cancel my subscription to Netflix? | How do I cancel a Spotify subscription?
What is the boiling point of ethanol? | At what temperature does ethanol boil? | What is the boiling point of methanol?
Translate good morning into Spanish. | How do you say good morning in Spanish? | Translate good morning into Portuguese.
When was Marie Curie born? | What is Marie Curie’s date of birth? | When was Pierre Curie born?
How do I deploy to AWS with Terraform? | How can Terraform be used to deploy to AWS? | How do I deploy to Azure with Terraform?
What are side effects of ibuprofen? | Which side effects can ibuprofen have? | What are side effects of paracetamol?
Draft an e-mail to Anna about the budget. | Write Anna an e-mail concerning the budget. | Draft an e-mail to Hanna about the budget.
What is the exchange rate of the Swiss franc? | How is the Swiss franc exchanging at present? | What is the exchange rate of the Swedish krona?
How tall is Mount Kenya? | What is the height of Mount Kenya? | How tall is Mount Kilimanjaro?`,
  negation: `
Which foods are safe for dogs? | What can dogs eat safely? | Which foods are not safe for dogs?
How do I enable two-factor login? | What is the way to turn on two-factor login? | How do I disable two-factor login?
List countries that are members of NATO. | Which countries belong to NATO? | List countries that are not members of NATO.
Why should I use a microservice architecture? | What speaks for using microservices? | Why should I not use a microservice architecture?
Is it legal to record a phone call? | May phone calls legally be recorded? | Is it illegal to record a phone call?
Show me orders that have been paid. | Display the orders which are paid. | Show me orders that have not been paid.
What should I do before surgery? | Which things ought I to do ahead of surgery? | What should I not do before surgery?
Which plants grow in the shade? | What plants will grow in shade? | Which plants do not grow in the shade?
How do I allow pop-ups in my browser? | How can I let my browser show pop-ups? | How do I block pop-ups in my browser?
Explain with examples how recursion works. | Use examples to explain the way recursion works. | Explain without examples how recursion works.
When is the museum open? | At what times can the museum be visited? | When is the museum closed?
What makes a contract valid? | What is needed for a contract to be valid? | What makes a contract invalid?`,
  unit: `
How far is the moon in kilometres? | What is the distance to the moon in kilometres? | How far is the moon in miles?
What is 30 degrees Celsius in Fahrenheit? | Convert 30 degrees Celsius into Fahrenheit. | What is 30 degrees Fahrenheit in Celsius?
How much is the ticket in euros? | What does the ticket cost in euros? | How much is the ticket in pounds?
How many cups is 500 ml of milk? | What are 500 ml of milk in cups? | How many cups is 500 g of milk powder?
What does a litre of water weigh in grams? | How many grams does one litre of water weigh? | What does a gallon of water weigh in grams?
How fast is light in metres per second? | What is the speed of light in m/s? | How fast is light in miles per hour?
What is my limit per minute? | How much may I use in a minute? | What is my limit per month?
How large is the file in megabytes? | What size in megabytes has the file? | How large is the file in megabits?
How much does the plan cost a month? | What is the monthly price of the plan? | How much does the plan cost a year?
What is the dose in milligrams? | How many milligrams are one dose? | What is the dose in micrograms?
How large is a field of one hectare? | What is the size of a one-hectare field? | How large is a field of one acre?
How long is the film in minutes? | How many minutes does the film last? | How long is the film in seconds?`,
  direction: `
How do I convert JSON to YAML? | What is a way of turning JSON into YAML? | How do I convert YAML to JSON?
How do I get from Rome to Milan? | What is the way to travel from Rome to Milan? | How do I get from Milan to Rome?
Translate this from German into English. | Put this German text into English. | Translate this from English into German.
How do I move from MySQL to Postgres? | How can I migrate to Postgres from MySQL? | How do I move from Postgres to MySQL?
Did the company buy its rival? | Was the rival bought by the company? | Did its rival buy the company?
Sort the table in ascending order. | Put the table into ascending order. | Sort the table in descending order.
How do I raise my blood pressure? | What can I do so that my blood pressure goes up? | How do I lower my blood pressure?
How do I export contacts? | In what way can contacts be exported? | How do I import contacts?
Why is my phone charging slowly? | What makes my phone charge so slowly? | Why is my phone discharging slowly?
How do I encrypt a file with a key? | With a key, how is a file encrypted? | How do I decrypt a file with a key?
What is the largest planet? | Which planet is the biggest? | What is the smallest planet?
Write an argument for the tax. | Make a case in favour of the tax. | Write an argument against the tax.
How do I scale the cluster up? | What do I do to scale up the cluster? | How do I scale the cluster down?`,
  time: `
What is the weather like today? | How is today’s weather? | What is the weather like tomorrow?
Who was president before Lincoln? | Who held the presidency ahead of Lincoln? | Who was president after Lincoln?
What did we decide last week? | Which decisions did we take last week? | What did we decide last month?
When does the summer term begin? | At which date does the summer term start? | When does the summer term end?
How do I undo my last commit before pushing? | Before I push, how can I take back my last commit? | How do I undo my last commit after pushing?
Remind me on Monday at nine. | Set a reminder for nine on Monday. | Remind me on Tuesday at nine.
Which shops are open in the morning? | What shops can I visit in the morning? | Which shops are open in the evening?
What were sales in the first quarter? | How much was sold in the first quarter? | What were sales in the third quarter?
What is new in the present version? | Which changes does the present version bring? | What was new in the former version?
How should I eat before a marathon? | What are good things to eat ahead of a marathon? | How should I eat after a marathon?
When did the war begin? | At what point did the war start? | When did the war end?`,
};

export const labelledPairs: readonly LabelledPair[] = missKinds.flatMap((kind) =>
  lines[kind]
    .trim()
    .split('\n')
    .flatMap((line): LabelledPair[] => {
      const [question, same, another, ...more] = line.split(' | ');
      if (question === undefined || same === undefined || another === undefined || more.length > 0)
        throw new Error(`three questions stand in a line, not: ${line}`);
      return [
        { one: question, other: same, isSame: true, kind },
        { one: question, other: another, isSame: false, kind },
        { one: same, other: another, isSame: false, kind },
      ];
    }),
);
