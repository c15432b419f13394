import { detectLanguage } from './detect-language.js';

describe('detectLanguage', () => {
  it.each([
    ['en', 'The agent sends a request to the registry and waits for an answer.'],
    ['ru', 'Агент отправляет запрос в реестр и ждёт ответа.'],
    ['ru', 'Сервер Redis хранит записи, а Jaeger показывает trace.'],
    ['de', 'Der Agent sendet eine Anfrage an die Registrierung und wartet auf die Antwort.'],
    ['fr', "L'agent envoie une requête au registre et attend la réponse."],
    ['de', 'Übergröße'],
    ['fr', 'Déjà'],
  ])('finds %s in %p', (language, text) => {
    expect(detectLanguage(text)).toBe(language);
  });

  it.each([
    [''],
    ['  \n'],
    ['12 + 34 = 46'],
    ['😀🎉'],
    ['\ud800'],
    ['今日は天気がいいです。'],
    ['AI と API の話をする'],
    ['xyzzy'],
  ])('says nothing about %p', (text) => {
    expect(detectLanguage(text)).toBeUndefined();
  });

  it('asks a larger vocabulary only where the function words decide nothing', () => {
    expect(detectLanguage('agent registry', (language, word) => language === 'en' && word === 'registry')).toBe('en');
    expect(detectLanguage('Agent Werkzeug', (language) => language === 'de')).toBe('de');
    expect(detectLanguage('the agent and the tool', () => true)).toBe('en');
    expect(detectLanguage('agent', () => false)).toBeUndefined();
  });

  it('reads no more than the beginning of a long text', () => {
    expect(detectLanguage(`${'und der die das '.repeat(1_000)}${'the and of it '.repeat(20_000)}`)).toBe('de');
  });
});
