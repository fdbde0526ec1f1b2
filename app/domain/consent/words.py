"""Words and phrases of opt-outs and opt-ins, in many languages.

All are normalized as by `recognition.normalize`: lower case, no accents or apostrophes, ` | ` between clauses.
"""

import re

OPT_OUT_WORDS = {
    "en": "stop stopall unsubscribe cancel end endall quit revoke optout remove td unsub stop2end stop2quit stop2stop",
    "es": "alto parar pare paren basta baja cancelar cancela terminar detener salir eliminar remover desuscribir "
    "desuscribirme desuscribirse darmedebaja",
    "fr": "arret arreter arretez arrete stoppez desabonner desabonnez desabonnement desinscrire desinscription "
    "resilier annuler",
    "de": "stopp abmelden abmeldung abbestellen aufhoren aufhoeren ende kundigen kuendigen austragen loschen loeschen",
    "pt": "sair descadastrar descadastre desinscrever desinscreva cancele remova",
    "it": "annulla cancella cancellami disiscrivi disiscrivimi disiscrizione smettila smettetela",
    "nl": "stoppen afmelden uitschrijven opzeggen einde",
    "da fi no sv": "stoppa avsluta sluta avregistrera avmeld afmeld frameld lopeta",
    "cs hu pl ro": "odhlasit zrusit leiratkozas leiratkozom wypisz rezygnuje koniec dezabonare",
    "tr": "iptal dur durdur ret",
    "ht id tl": "kanpe sispann berhenti unreg tigil itigil hinto",
    "vi": "huydangky ngunggui ngungnhantin dungnhantin dunggui tuchoi",
    "el ru uk": "στοπ διαγραφη стоп отписаться отписка отпишите отпишитеменя хватит відписатися відписка",
    "ja ko zh": "停止 解除 配信停止 退会 ストップ 중지 정지 거부 수신거부 그만 停 退订 退訂 取消 取消订阅 取消訂閱",
    "ar he hi th": "توقف إلغاء إيقاف הסר הסרה עצור बंद रोकें หยุด ยกเลิก",
}
"""Whole messages that mean stop: 47 CFR 64.1200(a)(10), the lists of Twilio and AWS, and the usage of each language."""

_LOOK_ALIKES = {
    "АВЕКМОРСТЅІѴЬӀ авекморстѕіѵьӏгҽԁԛ": "ABEKMOPCTSIVbl abekmopctsivblredq",
    "ΑΒΕΙΚΜΝΟΡΤϹϺ αβεικμνορτυσϲϱ": "ABEIKMNOPTCM abeikmvoptuocp",
}
LOOK_ALIKES = str.maketrans("".join(_LOOK_ALIKES), "".join(_LOOK_ALIKES.values()))
"""Cyrillic and Greek letters that look like those of English keywords (Unicode TR 39, confusables.txt).

The small forms of capitals that look alike count too, for keyboards that change the case of what was typed.
"""

STRONG_WORDS = "stop stopall unsubscribe unsub optout remove revoke quit stopp arret alto basta parar стоп 退订"
"""Words that mean stop even beside other clauses; "cancel" and "end" may refer to an appointment."""

OPT_IN_WORDS = "start unstop"
RETURN_WORDS = "yes subscribe resubscribe restart resume optin rejoin"
"""Consent only from a phone that had opted out, or that was asked to confirm."""

CONFIRM_WORDS = "y yep yeah confirm confirmed agree iagree si oui ja sim да 是 はい 네"
"""Consent only from a phone that was asked to confirm."""

HELP_WORDS = "help info aide ayuda hilfe ajuda aiuto"

TYPO_WORDS = "stop stopall unsubscribe cancel revoke optout"
REAL_WORDS = (
    "step shop slop stoop strop stomp stow stoep sop top atop swop stopa stol stor stof stom stok stob "
    "shopall cancer chancel lancel cancels evoke revote rewoke revokes"
)
"""Real words one edit away from a keyword."""

CLASSES = {
    "START": r"^|(?<=\| )",
    "END": r"(?= \||$)",
    "NOT": "do not|donot|dont|don t|do nt|dnt|never|no longer",
    "ME": "me|us|my (name|number|phone|cell|contact|info|information|details|data)|(this )?(number|phone)",
    "YOU": "you|u|yall",
    "THE": "( (with|all|any|the|these|this|that|those|your|ur|such|of|further|future|more|my|me|us|from|text|sms|spam|"
    "marketing|promotional|automated|mass|group|junk|unwanted|unsolicited|sales|calling|mailing|phone|so|many))*",
    "TEXTS": "texts?|txts?|messages?|msgs?|sms|mms|spam|notifications|alerts|ads|promos|promotions|marketing|reminders|"
    "solicitations?|communications?|correspondence|updates|contact(?! (info|number|details|form|lens))|"
    "(calls|emails) (or|and) (texts|messages)",
    "TEXTING": "text(ing|in|ng)|texing|txti?ng?|messaging|messagin|msgi?n?g|contacting|bothering|spamming|harassing|"
    "bugging|annoying|pestering|soliciting|hitting me up|blowing up my phone|reaching out|"
    "(text|txt|message|msg|contact|spam|bother|bug) (me|us)",
    "TEXT": "text|txt|message|msg|contact",
    "LIST": r"(\w+ )?(lists?|database|db|system|thread|chat|group|contacts|campaigns?|rotation|{TEXTS})",
    "BUSINESS": r"(off|from|out of)( of)?( (the|my|our|that|this|todays|tomorrows))?( \w+)? (lease|title|deed|loan|"
    "policy|appointment|schedule|showing|waitlist|waiting|order|class|calendar|tour|meeting|booking|application|"
    r"contract|account|bill|mortgage|insurance|event|roster|hold|market)\b",
    "REACH": "((call|email) (or|and) )?({TEXT}|sms|bother|spam|disturb|solicit|harass|write|texting|messaging|"
    "contacting|bothering|reply to)( (or|and) (call|text|email|message))?",
    "HERE": "me|us|here|my (phone|number|cell)|this (number|phone|line|cell)",
    "ANY": "these|this|them|those|any(thing|more)?|any more",
    "WANTED": " (to|receive|get|see|have|accept|hear|be|keep|you|u|yall|ever|any|more|further|getting|receiving|being|"
    "your|ur|these|those|this|the|such|all|for|of|from)",
    "UNWANTED": "{TEXTS}|texting|texted|messaged|contacted|contacting|bothered|(text|message|contact) me|from {YOU}",
    "NOTEXT": "(?! (me |us )?(and |just )?text)",
    "ANSWER": "reply|text|txt|respond|send|type",
    "STOPPING": "opt ?out|end|quit|stop|cancel|unsubscribe|unsub",
    "HAVENT": "no need|havent|hasnt|isnt|shouldnt|without",
    "INTENDED": " (want|wanna|wish|mean|meant|need|intend|ask|asked|asking|trying|try|going|gonna|plan|you|u|they|them|"
    "him|her|to|ever|have)",
    "MODAL": " (should|will|can|cant|could|need|needs|needed|have|had|has|must|to|want|wants|wanted|would|like|gotta|"
    "finally|ever|never|refuses?|refused)",
    "RECIPIENT": " (you|u|them|him|her|in|down|to)",
    "ENDING": "cancel|end|quit|revoke|remove|stop|cease|discontinue|terminate|halt|rescind|withdraw|unsubscribe( me)?"
    "( from)?|opt me out( of)?",
    "EVERYTHING": "everything|it all|all (of )?(it|this|these|that|those|them)",
    "POLITE": "(can|could|would|will) {YOU}|(i|we) (want|would like|wish)( {YOU})? to|(id|wed) like( {YOU})? to",
    "DAY": "(mon|tues|wednes|thurs|fri|satur|sun)day",
}
"""The names used in blocks of phrases, and their patterns."""


def _phrases(block: str) -> str:
    """Return the pattern of a block, in which every line is an alternative and no group captures."""
    while (named := re.sub(r"\{([A-Z]+)\}", lambda name: f"({CLASSES[name[1]]})", block)) != block:
        block = named
    return "|".join(line.strip() for line in re.sub(r"\((?!\?)", "(?:", block).strip().splitlines())


HOLD_WORDS = _phrases("""
    no more|no mas|enough( already)?|para|fin|exit|leave|spam|knock it off|(quit|end) (it|this)
    delete( all)?|cancel all|dnd|do not disturb|blocked?|blocking|cease( all)?|halt|terminate|i withdraw
    dnc( me| list)?|un ?enroll?|discontinue( this| all| service)?|(remove|end) (my |the )?subscription
    (quit|cancel|delete|remove|end) (this|these|those|them|me)|(delete|remove) (it|everything)|(quit|stop|halt) all
    (no more|enough) of (this|these|those|it)|(do not|dont) send|(i )?want off|leave me off|(drop|block) me
    ((i|we) )?({NOT} (want|need) these( (anymore|any more))?|no longer (want|need) (this|these|those|them))
    ((i|we) )?{NOT} (want|need) (this|those|them|any of (this|these|it)) (anymore|any more)
    (i )?want (this|these|it all) to end|(scratch|cancel) (my|this) number
    {POLITE} ((stop|cancel|end|remove|delete) (these|this|those|them)|{ENDING} {EVERYTHING})
""")
"""Whole messages that may mean stop."""

DEMANDS_ALONE = _phrases("""
    {ENDING} {EVERYTHING}|consent revoked
    (revoke|rescind|withdraw) (it|this|that|these|those|them|all)|i (hereby )?revoke
    (end|discontinue|terminate|unsubscribe) (these|those|them)|(terminate|unsubscribe) (this|it|all)
    remove (this|these|all)|remove (everything|all) (about|of|on) me|get rid of (my|this) (number|phone)
    (get |remove )?off( of)? (the|your|this|all|ur) (list|lists)|(take|get) me off( of)? {EVERYTHING}
    (i|we) no longer (consent|agree)( to (this|these))?|(i|we) (take back|withdraw) (my|our) consent
    (drop|scratch|strip) {ME} from{THE} {LIST}
    (cancela|cancelar|cancele|cancelen|quita|quiten|quitar|borra|borrar|elimina|eliminar|paren|parar|detener) todo
    (arretez?|annulez?|annuler|arreter|supprimez|stoppez) tout|tout (arreter|annuler)
    alles (abbestellen|stoppen|kundigen|kuendigen|beenden|loschen|loeschen)|stoppt? alles
    (cancela|cancelar|cancele|cancelem|remova|pare|parem) tudo|(cancella|cancellate|annulla|annullate|ferma) tutto
    alles (stoppen|opzeggen|annuleren)|stop alles|avsluta allt|stop alt
""")
"""Whole messages that demand an end of everything, or name it by a pronoun, such as `revoke it`.

Within a longer text they may refer to an order or an appointment. `cancel it` alone is mostly about an appointment.
"""

FILLERS = _phrases("""
    right now|right away|at once|now|immediately|asap|already|just|ok|okay|kindly|please|plz|pls|plse|pleas
    thank you|thank u|thanks|thankyou|thanx|thnx|thx|tks|ty|hi|hello|hey|sir|maam|madam|guys|dude|bro|sorry
    por favor|porfavor|gracias|ya|sil vous plait|s il vous plait|svp|merci|bitte|danke|obrigad[oa]
    per favore|grazie|alstublieft|alsjeblieft|tack|пожалуиста|спасибо|sent from my [^|]*
""")
"""Phrases before or after a keyword that do not change its meaning."""

DISMISSALS = _phrases(r"""
    (no|nope|nah){END}|no thanks|no thank {YOU}|no thx|no ty|(im |i am |we are )?not interested|im good
    i dont know you|i dont care|who (is|are|dis)( this| dis| you)?|wrong (number|person)
    (i|we) (said|told you)( no)?|for the last time|no gracias|nein danke|non merci|nao obrigad[oa]
""")
"""Phrases beside a strong word that do not weaken it."""

NOISE = _phrases("""
    please|plz|pls|kindly|just|really|even|immediately
    (mother)?fucking|fuckin|fkn|effing|freaking|frickin|goddamn?|damn|bloody|stupid|dumb|annoying
""")
"""Words within a phrase that do not change its meaning."""

ORDERS = _phrases(r"""
    (stop|quit|cease|discontinue|no more){THE} {TEXTING}\b
    (stop|quit){THE} harassment
    leave (me|us) (the \w+ )?alone
""")
"""Orders to stop, which a person may also report, or give to a third person."""

DEMANDS = _phrases(r"""
    (stop|quit|cease|discontinue|end|cancel|disable|halt|terminate|suspend|turn off){THE} {TEXTS}\b
    (?<!have )(?<!has )(?<!had )(?<!get )(?<!got )(?<!see )(?<!are )no more{THE} ({TEXTS}|harassment)\b
    (stop|quit|cease) (receiving|getting){THE} ({TEXTS}|these|this|them|those)\b
    (stop|quit|cease|discontinue) (sending|send)( me| us| out)?({END}|{THE} {TEXTS}\b)
    (stop|quit) (sending|send)( me| us| out)? (these|this|those|them|it|that|any\w*|stuff|crap|shit|things)\b
    stop (for good|for now|forever|today|permanently|completely|everything)
    {START}stop (it|this|these|them|that|all of (it|this|these)){END}
    (can|could|would|will) {YOU}( guys| people)? stop{END}
    (told|asked|telling|asking|begging)( ({YOU}|guys|people|already|many|several|twice|\w+ times)){1,5} (to )?stop{END}
    (i|ive|we|weve)( (have|already))* (said|texted|text|replied|typed|sent|wrote)( \w+){0,2} (stop|unsubscribe){END}
    (i|ive|we|weve) (have |already )*(texted|text|replied|typed|sent) stop\b
    i (keep|kept) (texting|replying|saying|sending) (stop|unsubscribe)\b
    (make|want|need|wish)( (it|this|these|them|that|the|{TEXTS}))+( to)? stop{END}
    (appreciate it|prefer it|prefer|wish|rather|grateful) (if )?{YOU}( would| could)? stop(ped)?{THE} {TEXTING}\b
    (unsub|unsubscribe|unsubscribing|i (have |already )*unsubscribed(?! by))\b
    (opt(ed|ing)? ((me|us|my number|this number) )?out|optout)\b(?! of| by)
    opt(ed|ing)? (me |us )?out of{THE} ({LIST}|this|these|everything|all|receiving|getting|being|future)\b
    (remov(e|ing)|delet(e|ing)|erase|exclude|unlist|unenroll?|unregister|deregister) (\w+ and )?{ME}\b(?! {BUSINESS})
    (removal|remove|take) (from|off)( of)?{THE} {LIST}\b
    (take|pull|get|cross|scratch|strike|drop|keep|leave) {ME} (off|out|of)( of| from)?{THE} {LIST}\b
    (take|get) {ME} off( of)?( this| it| here)?( now| today| asap)?{END}
    (want|like|need|get|be)( to (be|get))? (taken off|removed from|deleted from)( of)?{THE} {LIST}\b
    (want|like|need|get)( to (be|get))? off( of)?{THE} {LIST}\b
    (want|like|request|requesting|asked|asking|need) to be (removed|taken off|deleted|unsubscribed)\b
    (revok(e|ing)|withdraw(ing)?|rescind|cancel)( (my|all|any|prior|express))* (consent|permission|authorization)
    cease and desist|let me be{END}|{START}(lose|forget) (my|this) number
    not interested in{THE} (receiving|getting|{TEXTS})\b
    (add|put|place) {ME} (on|to|in)( \w+){0,2} (dnc|blacklist|blocklist|block list)
    (do not|dont) (call|text|contact)( (or|and) (call|text))? (list|registry)
""")
"""Demands that are addressed to us, unless they are denied."""

PROHIBITIONS = _phrases(r"""
    (?<!\bi )(?<!\bwe )(?<!\bthey )(?<!\byou )(?<!\bu ){NOT}( (ever|you|dare|keep|be))* {REACH} {HERE}\b
    not to (ever )?{REACH} {HERE}\b
    (?<!\bi )(?<!\bwe )(?<!\bthey )(?<!\byou ){NOT} {TEXT}( (again|anymore|any more|ever))+\b
    ^{NOT} {TEXT}$|^no (texts|texting|sms|messages|spam)$|not (to )?be (texted|messaged|contacted|bothered)
    {NOT} send( me| us)? (any(more|thing)?|more|these|those|texts|messages|sms|msgs|spam|stuff)\b
    ({NOT}|didnt|did not|not) (want|wanna|wish|need|consent|ask|asked){WANTED}* {UNWANTED}\b
    ({NOT}|not) (want|wanna|wish)( to)? (receive|get|receiving|getting) {ANY}({END}| from| again| anymore)
""")
"""Orders not to text, which may be limited to a time or ask for a call instead."""

FINALITY = r"\b(?:again|anymore|any more|ever)\b"
"""Words that make a prohibition permanent, whatever else the message says."""

CONDITIONS = _phrases(r"""
    \b(until|till|til|before|after|while|when|whenever|unless|during|weekends?|late|early|past \d+|on {DAY}s?)\b
    \b(so (early|late|much|often|many)|this (early|late|morning|week|evening|weekend)|at (work|night|\d+\w*))\b
""")
"""Phrases that limit a prohibition to a time or an amount."""

ALTERNATIVES = _phrases(r"""
    \b(now|today|tonight|tomorrow|(call|email|phone|ring) (me|us|instead|only))\b
""")
"""Phrases that limit a prohibition to the moment, or ask for another channel."""

HOLDS = _phrases(r"""
    {START}{NOT} {TEXT}{END}
    {NOT} (call|ring|phone|email)( (me|us|this number|here))? (again|anymore|ever)\b
    {START}(stop|quit) (calling|ringing|emailing|asking|wasting|pressuring|pushing|following up|sending){NOTEXT}
    {START}(stop|quit) \w+ing (me|us|my)\b{NOTEXT}
    {START}((i|we) )?want out( (now|already|asap))?( of{THE} {LIST}\b| of (this|these|it){END}|{END})
    opt(ed|ing)? (me |us )?out of|(cancel|end)( (my|the|this))? (subscription|membership)
    (this is|its|thats|of) harassment|(you are|youre|your|keep) harassing|tcpa\b|(sue|suing) {YOU}\b|(ftc|fcc)\b
    report(ed|ing)? ({YOU}|as (spam|junk)|this (number|text|as))\b|block(ed|ing)? ({YOU}|this number|your number)\b
    (didnt|did not|never|havent|have not|not) (unsubscribed?|removed?|taken|stopped) (me|us)\b
    (did not|didnt|never|not) (sign(ed)? up (for (this|these|your)|to (receive|get))|subscribed?\b|consent(ed)?\b)
    (did not|didnt|never|not) (opt(ed)? in\b|(give|gave|given) (you )?(permission|consent|my number))
    {START}((fuck|piss|buzz|bugger|f|screw|sod) off|fuck {YOU}|go away|get lost|go to hell|gtfo|stfu){END}
""")
"""Possible demands to stop, which a person must review."""

BEGINNINGS = "stop|stopp|stopall|unsubscribe|opt ?out|revoke(?! (?:his|her|their|the|our|your|an?|that)\\b)"
"""Keywords that are held where they begin a longer text; `cancel`, `end`, `quit` and `remove` mostly begin others."""

INNOCENT_STOPS = _phrases(r"""
    by|in|over|at|past|off|on|around|through|for|and|along|near|there|here|down|up|back|home|into|outside|inside
    somewhere|anywhere|wherever|before|after|between|loss|signs?|lights?|watch|work|number|payment|lol|haha
    {DAY}|tomorrow|tonight|to (get|see|pick|eat|buy|check|say|visit|grab|look|drop)|\w+ing
""")
"""Words after `stop` when it refers to a visit, a bus or anything else but messages."""

INSTRUCTIONS = _phrases(r"""
    ((to|2) {STOPPING}[^|]{0,30}?( \|)? )?(?<!\bi )(?<!\bkeep ){ANSWER}( back)?( with)? ({STOPPING}|remove)\b[^|]*
    stop ?(to|2) ?{STOPPING}
""")
"""Opt-out instructions of businesses, quoted or repeated by an automatic reply."""

WRONG_NUMBERS = _phrases(r"""
    \bwrong (phone |cell )?(number|num|nbr|no|person|guy|lady|recipient|contact)\b(?! of\b)
    \b(have|got|texted|texting|dialed|reached) the wrong( one)?{END}
    \b(this|that) (isnt|is not|aint|is no longer) (\w+s|his|her|their|the right|the correct) (number|phone|cell)\b
    \b(isnt|not|no longer) (the )?(right|correct) (number|person)\b
    \b(no one|nobody|noone)( \w+)? by that name
    \b(doesnt|does not|no longer) (have|has|owns?|uses?) this (number|phone)\b
    \bnumero (equivocado|incorrecto|erroneo|errado|sbagliato)|\bpersona equivocada|\bequivoc\w+ de numero
    \b(mauvais|faux) numero|\btromp\w+ de numero|\bfalsche nummer|\bverwahlt|\b(verkeerde?|fel|feil|forkert) nummer
    打错|发错|号码错|番号違|不是本人|не туда попали|ошиблись номером
""")

BEFORE_WRONG_NUMBER = _phrases(r"""
    (im|i am|this is) not \w+( \|)?(?= )|(it|this|that)(?= (is|was|has|must|may|might|still) )
    {YOU}|youve|youre|ya|guys|people|i|im|ive|we|its|he|she|they|there|theres|thats|who
    is|are|am|was|has|have|had|got|get|gotten|must|may|might|probably|obviously|clearly|maybe|again|still
    (texted|texting|reached|reaching|dialed|messaged|messaging|contacted|contacting|called|calling)(?= (the|a) )
    \w+(?= (doesnt|does not|no longer) (have|has|owns?|uses?) this )
    think|thought|believe|guess|know|afraid|sure|pretty|and|but|so|as|since|because|cause|cuz|bc|the|a|to
    tiene|tienes|es|el|un|se|vous|avez|cest|le|sie|haben|das|ist|die|voce|tem|ha|avete|il|je|hebt|het|du|har
""")
AFTER_WRONG_NUMBER = _phrases(r"""
    here|anymore|any more|at all|again|so|and|but|because|buddy|bud|man|pal|friend|dear|honey|lady|idiot|了
    (for|of) \w+{END}|(im|i am|this is)( not)? \w+{END}|my name is \w+
""")
"""Words that belong to a report of a wrong number when it shares a clause with a demand."""

FOREIGN_DEMANDS = {
    "es": r"""
        \bn[oi] (me )?(vuelvan? a )?(envi|mand|contact|molest)(e|es|en|ar)(me)?( mas| mensajes| textos|{END})
        \bn[oi] (me )?(vuelvan? a )?escrib(a|as|an|ir)(me)?( mas|{END})
        (?<!\bno )\b(dejen?|deja|dejad|paren?|para|basta)( ya)? de (enviar|mandar|escribir|molestar|contactar)
        \bno (quiero|deseo)( (recibir|mas|sus|tus|estos|que me|ningun))* (mensajes?|textos?|sms|escriban|manden|envien)
        \bno (quiero|deseo) recibir|\bno mas (mensajes|textos|sms)
        \b(dar(me|se)?|deme|denme|dame) de baja|\bdej(a|e|en)me en paz
        \b(quit|elimin|borr|sac|saqu)(a|e|en)me({END}| de (la|su|tu|esta|el|este) (lista|grupo|chat|numero))
        \b(borr|elimin|quit|remuev|remov)(a|e|en|er|ar) mi (numero|telefono)
        \bcancelar (la |mi |los |estos )?(suscripcion|mensajes)
    """,
    "fr": r"""
        \bne (me |m ?|nous )(\w{3,}ez|envoie|contacte|ecris|derange)( \w+)? plus\b|\bnenvoyez plus
        (?<!n)\barretez? (de (m|me|nous)|(les|vos|ces) (sms|messages|textos))
        \bne (veux|souhaite|desire) plus (recevoir|de (sms|messages|textos)|etre contacte)
        \bne plus (me |m )?(recevoir|contacter|envoyer|ecrire|menvoyer|mecrire|deranger)
        \b(retirez|supprimez|enlevez|desinscrivez|desabonnez) (moi|mon numero)|\bretirer de (la|votre) liste
        \bme (desabonner|desinscrire)|\blaissez moi tranquille
    """,
    "de": r"""
        \bkeine (weiteren )?(sms|nachrichten|werbung|texte) mehr\b(?! (bekommen|erhalten))
        ^(bitte )?keine (sms|nachrichten|werbung)$|^nicht mehr (schreiben|kontaktieren|anschreiben)$
        \b(hor|hoer)(en sie|t)? (bitte )?auf\b|\blass(en sie|t)? mich in ruhe|\bmochte mich abmelden
        \b(streichen|nehmen|loschen|entfernen|tragen|melden) sie (bitte )?(mich|meine nummer)
        \b(schreib|kontaktier)(e|en sie|t)? (mir|mich) (bitte )?(nicht|nichts|keine)\b
        \b(schick|send)(e|en sie|t)? mir (bitte )?(nichts|keine (sms|nachrichten|werbung))\b
    """,
    "pt": r"""
        \bnao (me )?(mandem?|enviem?|contatem?|contactem?|escrevam?|perturbem?)( mais| mensagens|{END})
        \bparem? de (me )?(mandar|enviar|escrever|perturbar)|\bme deixem? em paz|\bsair da (sua )?lista
        \bnao quero (mais )?(receber|mensagens|sms)
        \bme (tirem?|tira|removam?|retirem?|excluam?|descadastrem?) (da|dessa|desta|de sua) lista
    """,
    "it": r"""
        \bnon (mi )?(inviate|mandate|scrivete|contattate|disturbate|inviar|mandar|scriver)(mi)?( piu| messaggi|{END})
        \bnon contattar\w*|\bnon voglio (piu )?(ricevere|messaggi|sms)|\bbasta (messaggi|sms)
        \bsmett\w+ di (mand|invi|scriv|contatt)
        \b(togliete|cancellate|rimuovete|rimuovi|cancella)mi|\blasciatemi in pace
    """,
    "nl": r"""
        (?<!krijg )(?<!ontvang )\bgeen (sms\w*|berichten|reclame) meer|\bstop met (sms|sturen|berichten|appen)
        \bschrijf me uit|\b(haal|verwijder) (me|mij|mijn nummer)|\blaat me met rust|\bstuur (me|mij) niets? meer
    """,
    "da no sv": r"""
        \binga fler (sms|meddelanden)|\bikke flere (sms|meldinger|beskeder)|\bikke send (meg|mig)
    """,
    "pl ru uk": r"""
        \bnie (wysylaj|pisz)\w*|\busun\w* (mnie|moj numer)
        \bне (пиши|пишите|беспокоите)\b|\bне (присылаите|отправляите)( мне)?( больше| смс| сообщения|{END})
        \bне пишіть|\bудалите (меня|мои номер)|\bотпишите
    """,
    "ja ko zh": """
        (不要|别|別|勿|停止)(再)?(给我|給我)?(发|發|打扰|打擾|傳|联系)|退订|退訂|取消(订阅|訂閱)
        配信停止|送らないて|送信しないて|(연락하지|보내지) ?마|수신거부
    """,
}
DEMANDS_ABROAD = _phrases("\n".join(map(str.strip, FOREIGN_DEMANDS.values())))

DENIALS = _phrases(r"""
    \b(dont|do not|donot|didnt|did not|doesnt|never|not|wont|will not|wouldnt|would not|{HAVENT}){INTENDED}* $
    \b((did|have|was|am) i|accidentally) $
""")
"""Words before a phrase that make it no demand: `I never asked you to`."""

REPROACHES = r"\b(?:if|unless|why)\b"
"""Words that make a denied demand a demand again: `if you dont`, `why wont you`."""

COMPLAINTS = _phrases(r"""
    \b({YOU}|guys|people)( still| never)? (dont|do not|didnt|did not|never|wont|will not|have not|havent|not)\b
""")
"""Words that make a denied demand a complaint: `you never`."""

SAID_OF_ANOTHER = _phrases(r"""
    \b(i|ill|we|he|she|it|they|him|her|them|who|did you|did u|when you|since you|kids|cant|cannot){MODAL}* $
    \b(get|make|tell|told|ask|asked|want|need) (my|his|her|their) \w+ to $
""")
"""Words before an order to a third person: `I need to`, `he wont`."""

OWN_MISTAKES = _phrases(r"""
    \b(i|we) (\w+ )?(have|had|gave|give|put|typed|entered|dialed|called|texted|sent|used|wrote){RECIPIENT}*( the| a)? $
    \b(not|isnt|is this|is that|is it|was this|was that)( the| a)? $
""")
"""Words before a wrong number that is not ours: `I gave you the`."""
