import { FORMS } from './forms.js';

const main = (
  language: keyof typeof FORMS,
  kind: 'noun' | 'verb' | 'adjective',
  ...cell: [string, ...string[]]
): string[] => [...FORMS[language].main(kind, cell)];
const others = (
  language: keyof typeof FORMS,
  kind: 'noun' | 'verb' | 'adjective',
  ...cell: [string, ...string[]]
): string[] =>
  FORMS[language].others(kind, FORMS[language].main(kind, cell)).map(([form, slot]) => `${form}:${String(slot)}`);

describe('English forms', () => {
  it.each([
    ['agent', 'agents'],
    ['capability', 'capabilities'],
    ['class', 'classes'],
    ['branch', 'branches'],
    ['key', 'keys'],
    ['pull request', 'pull requests'],
  ])('make the plural of %s', (singular, plural) => {
    expect(main('en', 'noun', singular)).toEqual([singular, plural]);
  });

  it.each([
    ['call', 'calls', 'called', 'calling'],
    ['store', 'stores', 'stored', 'storing'],
    ['try', 'tries', 'tried', 'trying'],
    ['stop', 'stops', 'stopped', 'stopping'],
    ['reject', 'rejects', 'rejected', 'rejecting'],
    ['play', 'plays', 'played', 'playing'],
    ['wait for', 'waits for', 'waited for', 'waiting for'],
  ])('conjugate %s', (base, third, past, present) => {
    expect(main('en', 'verb', base)).toEqual([base, third, past]);
    expect(others('en', 'verb', base)).toEqual([`${present}:0`]);
  });

  it('follow the glossary where it knows better', () => {
    expect(main('en', 'noun', 'person', 'people')).toEqual(['person', 'people']);
    expect(main('en', 'verb', 'write', 'writes', 'wrote', 'written')).toEqual(['write', 'writes', 'wrote', 'written']);
    expect(others('en', 'verb', 'write', 'writes', 'wrote', 'written')).toEqual(['writing:0', 'written:2']);
    expect(others('en', 'verb', 'be', 'is', 'was')).toEqual(['being:0']);
  });
});

describe('Russian forms', () => {
  it.each([
    ['отправлять', 'отправляет', 'отправлял'],
    ['использовать', 'использует', 'использовал'],
    ['получать', 'получает', 'получал'],
    ['строить', 'строит', 'строил'],
    ['иметь', 'имеет', 'имел'],
    ['соглашаться', 'соглашается', 'соглашался'],
  ])('conjugate %s', (infinitive, third, past) => {
    expect(main('ru', 'verb', infinitive)).toEqual([infinitive, third, past]);
  });

  it('recognise persons and genders of verbs', () => {
    expect(others('ru', 'verb', 'отправлять')).toEqual(
      expect.arrayContaining(['отправляют:0', 'отправляем:0', 'отправляла:2', 'отправляли:2']),
    );
    expect(others('ru', 'verb', 'найти', 'найдёт', 'нашёл')).toEqual(expect.arrayContaining(['нашла:2', 'нашли:2']));
    expect(others('ru', 'verb', 'соглашаться')).toEqual(expect.arrayContaining(['соглашаются:0', 'соглашалась:2']));
  });

  it.each([
    ['агент', 'агенты', ['агента:0', 'агентом:0', 'агентов:1', 'агентами:1', 'агентах:1']],
    ['список', 'списки', ['списка:0', 'списком:0', 'списков:1']],
    ['задача', 'задачи', ['задачи:0', 'задачу:0', 'задач:1', 'задачами:1']],
    ['версия', 'версии', ['версию:0', 'версией:0', 'версий:1', 'версиях:1']],
    ['сообщение', 'сообщения', ['сообщению:0', 'сообщении:0', 'сообщений:1']],
    ['сеть', 'сети', ['сетью:0', 'сетей:1', 'сетями:1']],
    ['день', 'дни', ['дней:1', 'днями:1']],
    ['слово', 'слова', ['словом:0', 'слов:1', 'словами:1']],
  ])('decline %s', (singular, plural, expected) => {
    expect(others('ru', 'noun', singular, plural)).toEqual(expect.arrayContaining(expected));
  });

  it('recognise endings of adjectives', () => {
    expect(others('ru', 'adjective', 'новый')).toEqual(expect.arrayContaining(['новая:0', 'новыми:0', 'нового:0']));
    expect(others('ru', 'adjective', 'лучше')).toEqual([]);
  });
});

describe('German forms', () => {
  it.each([
    ['senden', 'sendet', 'sendete'],
    ['prüfen', 'prüft', 'prüfte'],
    ['öffnen', 'öffnet', 'öffnete'],
    ['lernen', 'lernt', 'lernte'],
    ['registrieren', 'registriert', 'registrierte'],
  ])('conjugate %s', (infinitive, third, past) => {
    expect(main('de', 'verb', infinitive)).toEqual([infinitive, third, past]);
  });

  it('recognise participles, persons, cases and endings', () => {
    expect(others('de', 'verb', 'senden')).toEqual(['sende:0', 'sendest:1', 'sendeten:2', 'gesendet:2']);
    expect(others('de', 'verb', 'installieren')).toContain('installiert:2');
    expect(others('de', 'verb', 'lesen', 'liest', 'las', 'gelesen')).toEqual(
      expect.arrayContaining(['gelesen:2', 'lasen:2']),
    );
    expect(others('de', 'noun', 'Werkzeug', 'Werkzeuge')).toEqual(['Werkzeugs:0', 'Werkzeuges:0', 'Werkzeugen:1']);
    expect(others('de', 'adjective', 'hoch')).toContain('hohe:0');
  });
});

describe('French forms', () => {
  it.each([
    ['outil', 'outils'],
    ['réseau', 'réseaux'],
    ['jeu', 'jeux'],
    ['journal', 'journaux'],
    ['accès', 'accès'],
  ])('make the plural of %s', (singular, plural) => {
    expect(main('fr', 'noun', singular)).toEqual([singular, plural]);
  });

  it('conjugate the first group, and recognise participles of all', () => {
    expect(main('fr', 'verb', 'accepter')).toEqual(['accepter', 'accepte', 'a accepté']);
    expect(others('fr', 'verb', 'accepter')).toEqual(
      expect.arrayContaining(['acceptent:0', 'acceptée:2', 'acceptait:2']),
    );
    expect(others('fr', 'verb', 'lire', 'lit', 'a lu')).toEqual(expect.arrayContaining(['lus:2', 'ont lu:2']));
  });

  it('recognise genders of adjectives', () => {
    expect(others('fr', 'adjective', 'nouveau')).toEqual(['nouvelle:0', 'nouveaux:0', 'nouvelles:0']);
    expect(others('fr', 'adjective', 'public')).toEqual(['publique:0', 'publics:0', 'publiques:0']);
  });
});
