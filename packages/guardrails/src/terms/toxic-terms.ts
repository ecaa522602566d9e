import type { ToxicCategory } from '@sluice/contracts/checks';

/**
 * Words that hurt, modestly: the common ones of some ten languages, separated by
 * commas, a star behind the beginning of words, a star between words for any one
 * of them. What also has a decent meaning stands only in phrases.
 */
export const toxicTerms: Readonly<Record<ToxicCategory, readonly string[]>> = {
  profanity: [
    'fuck, fucks, fucked, fucker, fuckers, fucking, fuckin, fck, fcking, fuk, motherfuck*, shit, shits, shitty, shitting, bullshit*, horseshit, wtf, stfu, goddamn*, bastard, bastards, crap, crappy, bollocks, wanker*, twat, twats',
    'scheiss*, beschissen*, verfickt*, fick, ficken, fickt, gefickt, kacke, verdammte scheisse',
    'merde, merdes, putain, putains, bordel de merde, foutre, enculer',
    'mierda*, joder, jodido, jodida, cono, hostia puta, cago en, puta madre, puto, carajo',
    'merda, merdas, caralho, porra, foda, foda-se, fodase, puta que pariu',
    'cazzo, cazzi, merdoso, porca puttana, vaffanculo, fanculo, minchia',
    'kut, godverdomme, klote*, kanker*, tering*, verdomme',
    'kurwa, kurwy, kurde, pierdol*, spierdalaj*, jebac, jebany, gowno',
    'блядь, блять, бля, сука, сукин, хуй*, хуе*, пизд*, ебат*, ебан*, нахуй, нахер, говно*, дерьмо*',
    'siktir*, sikeyim, amk, amina, bok gibi, orospu',
    '他妈的*, 操你*, 卧槽*, 妈的*, くそったれ*, クソ*, 씨발*, 시발*',
  ],
  insult: [
    'asshole*, arsehole*, dumbass*, jackass*, dipshit*, moron, morons, imbecile*, retard, retards, retarded, cunt, cunts, bitch, bitches, son of a bitch, shut up you, piece of shit, piece of garbage, scumbag*, dickhead*, douchebag*, worthless scum, nobody likes you, you are worthless, you are nothing, prick, pricks, slut, sluts, whore, whores',
    'arschloch*, arschlocher, wichser*, vollidiot*, hurensohn*, fotze*, schlampe*, missgeburt*, halt die fresse, halts maul, halt dein maul, drecksack*, depp, deppen, spast, spasti',
    'connard*, connasse*, salope*, salaud*, encule, encules, abruti*, batard*, fils de pute, ta gueule, pauvre con',
    'gilipollas, hijo de puta, hijos de puta, hija de puta, cabron, cabrones, cabrona, pendejo*, imbecil, imbeciles, subnormal, maricon, zorra, cierra la boca',
    'filho da puta, filha da puta, arrombado, arrombada, otario, cuzao, babaca, vai tomar no cu, desgracado',
    'stronzo, stronza, stronzi, figlio di puttana, coglione, coglioni, bastardo, testa di cazzo, deficiente',
    'klootzak*, hoer, hoerenzoon, eikel, mongool, lul, trut, sukkel',
    'kretyn*, debil*, skurwysyn*, skurwiel*, suka, dupek, pojeb*',
    'дебил*, дурак, дура, мудак*, ублюдок*, ублюдк*, урод, тварь, идиот, придурок, придурк*, долбо*',
    'aptal, salak, gerizekali, serefsiz*, orospu cocugu, pic kurusu, it herif',
    '傻逼*, 傻B*, 混蛋*, 王八蛋*, 白痴*, 贱人*, 馬鹿野郎*, バカ野郎*, 병신*, 개새끼*, 미친놈*',
  ],
  threat: [
    "i will kill you, i'll kill you, im going to kill you, i'm going to kill you, i am going to kill you, gonna kill you, going to find you, i will find you, break your legs, break your neck, kill yourself, kys, hang yourself, you will die, you should die, you must die, hope you die, hope you get cancer, burn your house, burn your * down, watch your back, where you live and, where your family lives, slit your throat, beat you up, you are dead, you're dead meat, i will hurt you, i will rape you, shoot you in the",
    'ich bring dich um, ich bringe dich um, ich tote dich, ich mach dich fertig, hang dich auf, geh sterben, ich finde dich, ich stech dich ab',
    'je vais te tuer, je te tue, va crever, va mourir, je vais te retrouver, suicide-toi',
    'te voy a matar, voy a matarte, ojala te mueras, matate, te voy a encontrar',
    'vou te matar, vou matar voce, se mata, espero que morra',
    'ti ammazzo, ti uccido, ammazzati, devi morire, ti vengo a prendere',
    'ik maak je dood, ik vermoord je, ga dood, pleeg zelfmoord',
    'zabije cie, zdechnij, powies sie',
    'я тебя убью, убью тебя, сдохни*, повесься, я тебя найду',
    'seni oldurecegim, seni gebertirim, geber',
    '杀了你*, 弄死你*, 去死*, 殺すぞ*, 死ね*, 죽여버*, 죽어라*',
  ],
  sexual: [
    'send me nudes, send nudes, nudes, porn, porno, pornos, pornography, hardcore porn, blowjob*, handjob*, cumshot*, suck my dick, suck my cock, dick pic*, my dick, my cock, your pussy, wet pussy, tits, titties, boobs, anal sex, gangbang*, deepthroat*, jerk off, horny, dildo*, masturbate, fuck me, naked pics',
    'lutsch* meinen schwanz, lutsch meinen schwanz, meinen schwanz, titten, muschi, geile sau, fick mich, wichsen, pornofilm*',
    'suce ma bite, ma bite, baise-moi, ta chatte, nichons, branler',
    'chupa mi polla, mi polla, chupamela, follame, follar, tetas, cona',
    'chupa meu pau, meu pau, buceta, peitos nus, punheta',
    'succhiami il cazzo, il mio cazzo, figa, tette, scopami, pompino',
    'pijp me, neuk me, neuken, tieten, kutje',
    'possij mi, cycki, cipka, ruchac',
    'отсоси, сиськи, трахни, трахать, минет, порно*',
    'sikimi, meme goster, porno izle',
    '色情片*, 操我*, エロ動画*, おっぱい*, 섹스하*, 야동*',
  ],
  hate: [
    'nigger*, nigga, niggas, faggot, faggots, fag, fags, kike*, spic, spics, chink, chinks, wetback*, tranny, trannies, raghead*, sandnigger*, towelhead*, subhuman*, untermensch*, heil hitler, sieg heil, white power, 14/88, 1488, gas the *, should be gassed, be gassed, dirty foreigners, dirty jew*, are vermin, dirty immigrants, get out of our country, race traitor*, ethnic cleansing now, white genocide',
    'auslander raus, kanake*, neger, nigger*, judensau*, zigeunerpack, schwuchtel*, tunte',
    'sale bougnoule, bougnoule*, sale arabe, sale juif, sale noir, negre, pede, youpin*, bamboula',
    'negro de mierda, moro de mierda, sudaca*, judio de mierda, maricones, panchito*',
    'macaco imundo, preto imundo, viadinho*, bicha imunda',
    'negro di merda, ebreo di merda, frocio, froci, terrone, zingaro di merda',
    'vuile jood, kankermarokkaan*, zandneger*, flikker*',
    'czarnuch*, zydek, ciapaty, pedal, pedaly',
    'чурка, чурки, жид, жиды, хач, хачи, ниггер*, пидор*, пидар*, хохол, хохлы',
    'pis gavur, ibne, ibneler, pis yahudi',
    '支那人*, 黑鬼*, 支那畜*, チョン公*, 짱깨*',
  ],
};

/** What hurts only where somebody is spoken to. */
export const addressedTerms =
  'idiot, idiots, idiota, idiotas, idiotin, idioten, stupid, dumb, dummy, loser, losers, fool, trash, garbage, scum, pathetic, useless, worthless, ugly, pig, rat, clown, dumm, blod, bloder, hasslich, fett, schwein, stupide, idiote, nul, nulle, con, conne, moche, cretin, tonto, tonta, feo, fea, inutil, burro, burra, feio, scemo, scema, brutto, cretino, dom, lelijk, stom, glup*, brzydk*, тупой, тупая, глуп*, свинья, aptalsin, salaksin';

/** Who is spoken to. */
export const addresses =
  "you, your, you're, youre, u, ur, du, dich, dein, ihr, euch, tu, toi, t'es, t’es, vous, eres, tu, usted, ustedes, voce, voces, sei, siete, jij, je, jullie, jestes, ty, ты, вы, sen, siz, sizler";
