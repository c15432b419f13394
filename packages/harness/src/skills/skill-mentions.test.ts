import { mentionedSkill } from './skill-mentions.js';

function skill(name: string) {
  return { name, description: '', location: `/skills/${name}/SKILL.md` };
}

const SKILLS = ['release_notes', 'plain', 'my.skill-1', 'c++', 'pdf', 'pdf-forms', '(a|b)*', 'größe'].map(skill);

describe('mentionedSkill', () => {
  it.each<[string, string | null]>([
    ['nothing', null],
    ['use $release_notes now', 'release_notes'],
    ['$release_notes', 'release_notes'],
    ['use ($release_notes).', 'release_notes'],
    ['use $RELEASE_NOTES', null],
    ['use SKILL:Release_Notes', 'release_notes'],
    ['skill:plain', 'plain'],
    ['skill: plain', null],
    ['$ plain', null],
    ['$release_notesX', null],
    ['$release_notes2', null],
    ['$release_notesé', null],
    ['$plain𝐀', null],
    ['a$release_notes', null],
    ['é$plain', null],
    ['myskill:plain', null],
    ['$$plain', 'plain'],
    ['$plain and $release_notes', 'release_notes'],
    ['$my.skill-1!', 'my.skill-1'],
    ['$myxskill-1', null],
    ['$c++ please', 'c++'],
    ['$ccc', null],
    ['$(a|b)*', '(a|b)*'],
    ['$aaa', null],
    ['$größe', 'größe'],
    ['skill:GRÖSSE', null],
    ['skill:GRÖßE', 'größe'],
    ['costs $5', null],
  ])('%j names %j', (text, name) => {
    expect(mentionedSkill(text, SKILLS)?.name ?? null).toBe(name);
  });

  it('takes the longer of two names that fit, whatever their order', () => {
    expect(mentionedSkill('fill with $pdf-forms', SKILLS)?.name).toBe('pdf-forms');
    expect(mentionedSkill('read with $pdf', SKILLS)?.name).toBe('pdf');
    expect(mentionedSkill('skill:pdf-Forms and $pdf', SKILLS)?.name).toBe('pdf');
  });

  it('is quick with a text of nothing but markers', () => {
    const started = performance.now();
    expect(mentionedSkill('$skill:'.repeat(100_000), SKILLS)).toBeNull();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
