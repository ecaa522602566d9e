/** Words by which names of people and places are guessed, in lower case. */

const listed = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s*[,\n]\s*/));

/** Common in many countries, without those that are words of their own more often (Will, Mark, Grace, Hope, May …). */
export const firstNames = listed(`
james, john, robert, michael, william, david, richard, joseph, thomas, charles, christopher, daniel, matthew, anthony, donald, steven, paul, andrew, joshua, kenneth, kevin, brian
george, timothy, ronald, edward, jason, jeffrey, ryan, jacob, gary, nicholas, eric, jonathan, stephen, larry, justin, scott, brandon, benjamin, samuel, gregory, alexander, patrick
jack, dennis, jerry, tyler, aaron, jose, adam, nathan, henry, douglas, zachary, peter, kyle, noah, ethan, jeremy, walter, christian, keith, roger, terry, austin, sean, gerald, carl
harold, dylan, arthur, lawrence, jordan, jesse, bryan, billy, bruce, gabriel, joe, logan, alan, juan, albert, willie, elijah, wayne, randy, vincent, mason, roy, ralph, bobby, russell
bradley, philip, eugene, mary, patricia, jennifer, linda, elizabeth, barbara, susan, jessica, sarah, karen, lisa, nancy, betty, sandra, margaret, ashley, kimberly, emily, donna
michelle, carol, amanda, melissa, deborah, stephanie, rebecca, sharon, laura, cynthia, dorothy, amy, kathleen, angela, shirley, emma, brenda, pamela, nicole, anna, samantha, katherine
christine, debra, rachel, carolyn, janet, maria, olivia, heather, helen, catherine, diane, julie, victoria, joyce, lauren, kelly, christina, ruth, joan, virginia, judith, evelyn, hannah
andrea, megan, cheryl, jacqueline, madison, teresa, abigail, sophia, martha, sara, gloria, janice, kathryn, ann, isabella, judy, charlotte, julia, amber, alice, jean, denise, frances
danielle, marilyn, natalie, beverly, diana, brittany, theresa, kayla, alexis, doris, lori, tiffany, ada, alan, oliver, liam, lucas, amelia, mia, ava, chloe, ella, lucy, sophie
hans, peter, klaus, jürgen, wolfgang, dieter, uwe, stefan, andreas, matthias, tobias, florian, lukas, jonas, felix, maximilian, sabine, ursula, monika, petra, renate, brigitte, heike
katrin, anke, greta, johanna, friedrich, heinrich, karl, otto, jean, pierre, michel, philippe, alain, jacques, françois, nicolas, julien, antoine, guillaume, marie, nathalie, isabelle
sylvie, camille, léa, manon, chloé, antonio, manuel, francisco, javier, carlos, miguel, alejandro, pablo, diego, fernando, rafael, luis, carmen, isabel, ana, lucía, marta, paula
elena, cristina, pilar, giuseppe, giovanni, francesco, luigi, marco, matteo, alessandro, lorenzo, giulia, chiara, francesca, valentina, paola, joão, josé, pedro, tiago, rui, inês
beatriz, mariana, jan, piotr, krzysztof, andrzej, tomasz, paweł, michał, katarzyna, małgorzata, agnieszka, ewa, lars, erik, anders, sven, bjorn, björn, nils, ingrid, astrid, freya
ivan, dmitri, dmitry, sergei, sergey, alexei, nikolai, vladimir, boris, olga, svetlana, tatiana, natasha, irina, oksana, mohammed, muhammad, mohamed, ahmed, ahmad, ali, omar, hassan
hussein, ibrahim, yusuf, khalid, mustafa, fatima, aisha, khadija, zainab, layla, leila, noor, amina, raj, rahul, amit, sanjay, vijay, anil, sunil, ravi, arjun, rohan, vikram, deepak
priya, anjali, neha, pooja, kavita, sunita, lakshmi, divya, ananya, aarav, wei, ming, xiao, jing, li, hiroshi, kenji, takashi, yuki, haruto, sakura, yoko, akira, min-jun, ji-woo
nguyen, linh, thanh, kwame, kofi, ama, chidi, ngozi, chinedu, amara, thabo, sipho, nomsa, zanele, mehmet, ayşe, mustafa, fatma, emre, elif, yosef, moshe, avi, miriam, rivka, dov
`);

/** Words with a capital that begin a sentence or a title where no name follows. */
export const notNames = listed(`
the, this, that, these, those, a, an, and, or, but, if, when, while, where, what, who, why, how, is, are, was, were, do, does, did, can, could, should, would, please, thanks, thank
january, february, march, april, june, july, august, september, october, november, december, monday, tuesday, wednesday, thursday, friday, saturday, sunday
`);

export const countries = listed(`
afghanistan, albania, algeria, argentina, armenia, australia, austria, azerbaijan, bangladesh, belarus, belgium, bolivia, bosnia, brazil, bulgaria, cambodia, cameroon, canada, chile
china, colombia, costa rica, croatia, cuba, cyprus, czechia, denmark, ecuador, egypt, estonia, ethiopia, finland, france, germany, ghana, greece, guatemala, honduras, hungary, iceland
india, indonesia, iran, iraq, ireland, israel, italy, jamaica, japan, kazakhstan, kenya, kuwait, latvia, lebanon, libya, lithuania, luxembourg, malaysia, malta, mexico, moldova
mongolia, morocco, mozambique, myanmar, namibia, nepal, netherlands, new zealand, nicaragua, nigeria, norway, oman, pakistan, panama, paraguay, peru, philippines, poland, portugal
qatar, romania, russia, rwanda, saudi arabia, scotland, senegal, serbia, singapore, slovakia, slovenia, somalia, south africa, south korea, spain, sri lanka, sudan, sweden
switzerland, syria, taiwan, tanzania, thailand, tunisia, uganda, ukraine, united kingdom, united states, uruguay, uzbekistan, venezuela, vietnam, wales, yemen, zambia, zimbabwe
deutschland, österreich, schweiz, frankreich, españa, italia, polska, brasil
`);

export const cities = listed(`
new york, los angeles, chicago, houston, phoenix, philadelphia, san antonio, san diego, dallas, san jose, austin, jacksonville, san francisco, columbus, indianapolis, seattle, denver
washington, boston, nashville, detroit, portland, las vegas, memphis, baltimore, milwaukee, albuquerque, tucson, sacramento, atlanta, miami, oakland, minneapolis, cleveland
new orleans, pittsburgh, cincinnati, toronto, montreal, vancouver, calgary, ottawa, edmonton, mexico city, guadalajara, bogotá, lima, santiago, buenos aires, são paulo, rio de janeiro
brasília, caracas, london, manchester, birmingham, leeds, glasgow, edinburgh, liverpool, bristol, cardiff, belfast, dublin, paris, marseille, lyon, toulouse, bordeaux, lille, berlin
hamburg, munich, münchen, cologne, köln, frankfurt, stuttgart, düsseldorf, leipzig, dresden, hanover, hannover, nuremberg, nürnberg, vienna, wien, salzburg, zurich, zürich, geneva
basel, bern, amsterdam, rotterdam, utrecht, brussels, antwerp, luxembourg, madrid, barcelona, valencia, seville, lisbon, lisboa, porto, rome, roma, milan, milano, naples, turin
florence, venice, athens, istanbul, ankara, warsaw, kraków, krakow, gdańsk, prague, brno, bratislava, budapest, bucharest, sofia, belgrade, zagreb, ljubljana, copenhagen, stockholm
gothenburg, oslo, bergen, helsinki, tallinn, riga, vilnius, kyiv, kiev, lviv, odesa, minsk, moscow, saint petersburg, cairo, alexandria, casablanca, tunis, lagos, abuja, accra
nairobi, addis ababa, johannesburg, cape town, durban, dubai, abu dhabi, doha, riyadh, jeddah, tel aviv, jerusalem, beirut, baghdad, tehran, karachi, lahore, islamabad, mumbai
delhi, new delhi, bangalore, bengaluru, chennai, kolkata, hyderabad, pune, ahmedabad, dhaka, kathmandu, colombo, bangkok, hanoi, ho chi minh city, kuala lumpur, jakarta, manila
beijing, shanghai, guangzhou, shenzhen, chengdu, hong kong, taipei, tokyo, osaka, kyoto, yokohama, sapporo, seoul, busan, sydney, melbourne, brisbane, perth, adelaide, auckland
wellington
`);
