/** The languages whose function words are known here. */
export const KNOWN_LANGUAGES = ['en', 'ru', 'de', 'fr'] as const;

export type KnownLanguage = (typeof KNOWN_LANGUAGES)[number];

/**
 * Words that say little about the subject and much about the language. Lower case, `ё` as `е`,
 * apostrophes straight.
 */
export const STOP_WORDS: Readonly<Record<KnownLanguage, ReadonlySet<string>>> = {
  en: new Set(
    `a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can cannot could couldn't did didn't do does doesn't doing don't down during each either
    else ever every few for from further get got had hadn't has hasn't have haven't having he her here hers herself
    him himself his how however i if in into is isn't it it's its itself just let me more most much must my myself
    neither no nor not now of off on once one only or other our ours ourselves out over own per quite rather same
    shall she should shouldn't since so some still such than that that's the their theirs them themselves then
    there these they this those though through thus to too under until up upon us very was wasn't we were weren't
    what when where whether which while who whom whose why will with within without won't would wouldn't yet you
    your yours yourself yourselves`.split(/\s+/),
  ),
  ru: new Set(
    `а без бы был была были было быть в вам вами вас ваш ваша ваше ваши весь во вот все всего всей всем всеми всех
    всю вся всё вы где да даже для до его ее ей ему если есть еще же за здесь и из или им ими их к как какая какие
    какой когда кого который которая которое которые которых которого которой которому котором которым ко кто куда
    ли либо лишь между меня мне мной мог могла могли может можно мои мой моя мы на над надо нам нами нас наш наша
    наше наши не него нее ней некоторые нельзя нем нему нет неё ни нибудь ниже них ничего но ну о об обо однако он
    она они оно от очень перед по под пока после потому почему почти при про раз сам сама сами само свой своего
    своей своем свои своих свою своя себе себя сейчас со собой так также такая такие такое такой там тебе тебя тем
    теми тех то тобой тогда того тоже той только том тому тот ту тут ты у уж уже чего чей чем через что чтобы чуть
    эта эти этим этих это этого этой этом этому этот эту я`.split(/\s+/),
  ),
  de: new Set(
    `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei
    beim bereits bin bis bist da dabei dadurch dafür daher damit dann daran darauf daraus darf darin das dass dazu
    dein deine dem den denn der deren des dessen deshalb die dies diese diesem diesen dieser dieses doch dort du
    durch ein eine einem einen einer eines einige er es etwas euch euer eure für gegen habe haben hat hatte hatten
    hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes
    jedoch jener kann kein keine keinem keinen keiner können könnte machen man manche mehr mein meine mich mir mit
    muss müssen nach nicht nichts noch nun nur ob obwohl oder ohne schon sehr sein seine seinem seinen seiner seit
    sich sie sind so solche soll sollen sollte sondern sonst soweit sowie trotz über um und uns unser unsere unter
    viel viele vom von vor während war waren warum was weil welche welchem welchen welcher welches wenn wer werde
    werden wie wieder will wir wird wo wollen worden wurde wurden würde zu zum zur zwar zwischen`.split(/\s+/),
  ),
  fr: new Set(
    `à afin ai ainsi alors au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c'est ce ceci
    cela celle celles celui ces cet cette ceux chaque chez comme comment d'un d'une dans de depuis des deux doit
    donc dont du elle elles en encore entre est et était étaient étant être eu eux fait faire fois il ils j'ai je
    jusque l'on la là le les leur leurs lorsque lui ma mais me même mes moi moins mon n'est ne ni nos notre nous on
    ont ou où par parce pas pendant peu peut peuvent plus plusieurs pour pourquoi près puis qu'il qu'elle quand que
    quel quelle quelles quels qui quoi s'il sa sans se selon sera ses si sinon soi soit son sont sous sur ta te tes
    toi ton toujours tous tout toute toutes très tu un une vers voici voilà vos votre vous y`.split(/\s+/),
  ),
};
