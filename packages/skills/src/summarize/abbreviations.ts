/**
 * Abbreviations of English, Russian and German, lower case, without the last dot.
 * After one of these a sentence goes on, whatever follows.
 */
export const ALWAYS_GOES_ON: ReadonlySet<string> = new Set(
  `mr mrs ms mx dr prof st rev gen col lt sgt capt gov sen rep hon pres vs viz cf approx fig figs eq eqs ch sec vol
  no nos pp dept univ assn e.g i.e jan feb mar apr jun jul aug sep sept oct nov dec mt ft al
  т т.е т.к т.н т.о т.ч е к н с р ср см напр т.наз ул пер просп пр-т обл р-н пос дер стр рис табл гл проф акад доц
  инж им изд тел корп кв г-н г-жа гр св тт пп ст
  bzw ca vgl z.b d.h u.a z.t i.d.r u.u o.ä s.o s.u m.e z zb hr fr frl nr abs art bd bspw evtl ggf inkl exkl
  sog abb tab kap tel mio mrd ing dipl jh max min zzgl abzgl gem lt verf hrsg str`.split(/\s+/),
);

/** After one of these a sentence ends if the next word begins with a capital letter. */
export const MAY_END: ReadonlySet<string> = new Set(
  `etc inc ltd co corp jr sr bros a.m p.m u.s u.k u.n e.u ph.d b.c a.d
  т.д т.п д п др пр руб коп тыс млн млрд трлн сек мин час экз н.э э ч
  usw usf gmbh u.v.m a.d`.split(/\s+/),
);

/** Year and century in Russian: they close a date (`в 2024 г.`), but open a place name (`г. Москва`). */
export const ENDS_AFTER_NUMBER: ReadonlySet<string> = new Set('г гг в вв'.split(' '));

/** `am 3. Oktober`: an ordinal before a month is no end. Folded, first letters are enough. */
export const GERMAN_MONTH =
  /^(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b/iu;
