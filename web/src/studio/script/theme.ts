// How code looks. The colours are those of the page where it has them, so that the editor is light or
// dark with it. Styles are mounted in the shadow root as style sheets of the page's own script, which
// the content security policy allows.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const both = (light: string, dark: string): string => `light-dark(${light}, ${dark})`;
export const colours = {
    error: both('#b3261e', '#ff8a80'), warning: both('#8a5a00', '#ffcc66'), added: both('#dff3e0', '#173a24'),
    removed: both('#fbe3e1', '#4a1f1f'),
};

const highlight = HighlightStyle.define([
    { tag: tags.keyword, color: both('#8a2a8f', '#d79bff'), fontWeight: '600' },
    { tag: [tags.string, tags.special(tags.string), tags.regexp], color: both('#2b6a1b', '#a5d68c') },
    { tag: tags.number, color: both('#9a4a00', '#ffb774') },
    { tag: [tags.atom, tags.bool, tags.null], color: both('#9a4a00', '#ffb774') },
    { tag: tags.comment, color: both('#586b77', '#8ea3b3'), fontStyle: 'italic' },
    { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.variableName)],
        color: both('#0b5a91', '#7cc4ff') },
    { tag: [tags.typeName, tags.className], color: both('#00695c', '#7fdccb') },
    { tag: tags.special(tags.variableName), color: both('#8a2a8f', '#d79bff') },
    { tag: tags.propertyName, color: both('#1d4b66', '#b5dcf5') },
    { tag: [tags.operator, tags.punctuation, tags.bracket], color: both('#45586a', '#b7c6d3') },
    { tag: tags.labelName, color: both('#8a5a00', '#ffcc66') },
    { tag: tags.invalid, color: colours.error },
]);

const theme = EditorView.theme({
    '&': {
        height: '100%', fontSize: 'calc(0.9rem * var(--text, 1))', backgroundColor: 'var(--field)', color: 'var(--ink)',
    },
    '.cm-scroller': { fontFamily: 'ui-monospace, "Cascadia Code", Consolas, "DejaVu Sans Mono", monospace', lineHeight: '1.5' },
    '.cm-content': { caretColor: 'var(--ink)' },
    '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
    '&.cm-focused': { outline: '2px solid var(--sea)', outlineOffset: '-2px' },
    '.cm-gutters': { backgroundColor: 'var(--paper)', color: 'var(--soft)', border: 'none', borderRight: '1px solid var(--line)' },
    '.cm-activeLine': { backgroundColor: both('#1f6a9b12', '#ffffff0a') },
    '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--ink)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
        { backgroundColor: both('#bcdcf2', '#28506d') },
    '.cm-selectionMatch': { backgroundColor: both('#f2e2b4', '#4d431f') },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket':
        { backgroundColor: both('#cde9d2', '#26513a'), outline: '1px solid var(--sea)' },
    '.cm-panels': { backgroundColor: 'var(--paper)', color: 'var(--ink)', borderColor: 'var(--line)' },
    '.cm-panels button, .cm-panels input, .cm-panels label': { fontSize: '0.85rem', color: 'inherit' },
    '.cm-panels .cm-button, .cm-panels .cm-textfield':
        { backgroundColor: 'var(--field)', backgroundImage: 'none', border: '1px solid var(--line)', borderRadius: '0.35rem' },
    '.cm-searchMatch': { backgroundColor: both('#ffe08a', '#6b5410') },
    '.cm-searchMatch-selected': { backgroundColor: both('#ffbf47', '#9a7413') },
    '.cm-tooltip': {
        backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '0.5rem',
        boxShadow: '0 4px 18px rgba(0, 0, 0, 0.25)', maxWidth: 'min(34rem, 90vw)',
    },
    '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', lineHeight: '1.5' },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--sea)', color: '#fff' },
    '.cm-completionDetail': { color: 'inherit', opacity: '0.8', fontStyle: 'normal', marginLeft: '0.75em' },
    '.cm-completionInfo': { padding: '6px 10px' },
    '.cm-help': { padding: '6px 10px', fontSize: '0.85rem', lineHeight: '1.45' },
    '.cm-help code': { fontFamily: 'ui-monospace, Consolas, monospace', display: 'block', marginBottom: '2px' },
    '.cm-help strong': { color: both('#0b5a91', '#7cc4ff') },
    '.cm-help p': { margin: '2px 0' },
    '.cm-diagnostic': { padding: '4px 10px', borderLeftWidth: '4px' },
    '.cm-diagnostic-error': { borderLeftColor: colours.error },
    '.cm-diagnostic-warning': { borderLeftColor: colours.warning },
    '.cm-lintRange': { backgroundImage: 'none', textDecorationSkipInk: 'none', textUnderlineOffset: '3px' },
    '.cm-lintRange-error': { textDecoration: `underline wavy ${colours.error}` },
    '.cm-lintRange-warning': { textDecoration: `underline wavy ${colours.warning}` },
    '.cm-lint-marker-error, .cm-lint-marker-warning': { content: 'none', width: '0.65em', height: '0.65em', borderRadius: '50%', margin: '0.3em 0.2em' },
    '.cm-lint-marker-error': { backgroundColor: colours.error },
    '.cm-lint-marker-warning': { backgroundColor: colours.warning },
    '.cm-panel.cm-panel-lint ul [aria-selected]': { backgroundColor: 'var(--hover)', color: 'inherit' },
    '.cm-changedLine': { backgroundColor: `${colours.added} !important` },
    '&.cm-merge-a .cm-changedLine': { backgroundColor: `${colours.removed} !important` },
    '.cm-deletedChunk': { backgroundColor: `${colours.removed} !important` },
    '.cm-foldPlaceholder': { backgroundColor: 'var(--hover)', color: 'inherit', border: '1px solid var(--line)' },
});

export const codeLook: Extension = [theme, syntaxHighlighting(highlight)];
