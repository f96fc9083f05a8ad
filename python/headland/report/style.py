"""The stylesheet of the page: light and dark colours, wide and narrow screens."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --ink: #1d2b26; --soft: #56655e; --line: #dbe3de; --paper: #f4f7f4; --card: #fff;
  --accent: #17613f; --bad: #9a3412; --sheet: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4ebe7; --soft: #9fb0a8; --line: #2f3b36; --paper: #121815; --card: #1a221e; --accent: #7fd0a5;
    --bad: #f2a27b; --sheet: #f1f3f0; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; max-width: 1440px; padding: 2rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; margin: 0; }
h3 { font-size: 1.05rem; margin: 1.4rem 0 .7rem; }
h3 small { font-weight: 400; font-size: .86rem; color: var(--soft); margin-left: .5rem; }
h4 { font-size: .95rem; margin: .6rem 0 .3rem; }
a { color: var(--accent); text-underline-offset: .15em; }
.lead, .note { color: var(--soft); margin: 0 0 1rem; max-width: 62rem; }
.note { font-size: .86rem; margin: .9rem 0 0; }
.bad { color: var(--bad); } .ok { color: var(--accent); } .soft { color: var(--soft); }
.panel, .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.2rem;
  margin: 1.4rem 0; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .2rem 1rem; }
.heading nav { font-size: .86rem; display: flex; gap: 1rem; }
.scroll { overflow: auto; margin-top: .8rem; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .34rem .9rem .34rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.jobs thead th { position: sticky; top: 0; background: var(--card); box-shadow: inset 0 -1px var(--line); border: 0; }
.jobs td { white-space: nowrap; } .jobs td .soft { white-space: normal; }
.jobs td:first-child, .jobs td.text { white-space: normal; min-width: 7.5rem; max-width: 15rem;
  overflow-wrap: anywhere; }
.jobs td.bad { white-space: normal; min-width: 22rem; }
.number { text-align: right; }
:target { scroll-margin-top: 3rem; }
tr:target td, figure:target { background: color-mix(in srgb, var(--accent) 14%, var(--card)); }
.contents { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 1rem; margin-top: 1rem; }
.contents a { display: block; border: 1px solid var(--line); border-radius: 10px; padding: .6rem; text-decoration: none;
  color: var(--ink); min-width: 0; overflow-wrap: anywhere; }
.contents a:hover { border-color: var(--accent); }
.contents b { display: block; margin-top: .4rem; }
.contents small { color: var(--soft); }
.frame { display: grid; align-content: center; aspect-ratio: 1 / 1.12; border-radius: 6px; background: #f3f3ef;
  overflow: hidden; }
.frame > svg { display: block; width: 100%; height: auto; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 345px), 1fr)); gap: 1.1rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 10px; padding: .7rem; min-width: 0; }
.map { background: var(--sheet); border-radius: 8px; overflow: hidden; }
.map > svg { display: block; width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { .map > svg, .frame { filter: brightness(.945); } }
figure:only-child { grid-column: 1 / -1; display: grid; gap: 0 1.4rem; align-items: start; max-width: 910px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 345px), 420px)); }
figcaption { padding: .6rem .1rem 0; font-size: .86rem; min-width: 0; overflow-wrap: anywhere; }
figcaption th, details table { overflow-wrap: normal; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem .9rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.reason, .said { margin: .5rem 0 0; }
.rates { margin-top: .7rem; } figcaption > table { margin-top: .5rem; }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--accent); }
details > div { overflow-x: auto; max-height: 22rem; overflow-y: auto; }
details:not(:has(table)) > div { max-height: none; }
details table { font-size: .8rem; } details ul { padding-left: 1.1rem; font-size: .8rem; }
.back { text-align: right; margin: .3rem 0 0; }
@media screen and (max-width: 800px) {
  .jobs, .jobs tbody { display: block; } .jobs thead { display: none; }
  .jobs tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .2rem .8rem; padding: .6rem 0;
    border-bottom: 1px solid var(--line); }
  .jobs td, .jobs td:first-child, .jobs td.text, .jobs td.bad { border: 0; padding: 0; min-width: 0; max-width: none;
    white-space: normal; order: 1; }
  .jobs td:first-child { grid-column: 1 / -1; font-weight: 600; order: 0; }
  .jobs td.number { text-align: left; order: 0; }
  .jobs td.number::before { content: attr(data-name); display: block; color: var(--soft); font-size: .78rem; }
  .jobs td.bad { grid-column: 2 / -1; }
}
@media (max-width: 600px) { body { padding: 1.2rem .7rem 3rem; } .panel, .card { padding: .8rem .5rem; }
  .contents { grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)); gap: .6rem; } figure { padding: .3rem; }
  h3 small { display: block; margin: 0; } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --card: #fff; --accent: #000;
    --bad: #7c2d12; --sheet: #fff; }
  @page { margin: 12mm; }
  body { padding: 0; max-width: none; font-size: 9pt; }
  nav, .heading nav, .back { display: none; } .heading { display: block; }
  a { text-decoration: none; color: inherit; }
  .panel, .card { border: 0; padding: 0; margin: 0 0 1rem; }
  .scroll { overflow: visible; } .jobs { font-size: 8pt; } .jobs td { white-space: normal; min-width: 0; }
  .jobs thead th { position: static; }
  .maps { display: block; }
  figure, figure:only-child { display: grid; grid-template-columns: 60mm minmax(0, 1fr); gap: 0 .8rem;
    align-items: start; max-width: none; padding: .4rem; margin: 0 0 .6rem; }
  figcaption, figcaption table, details ul { padding-top: 0; font-size: 7.5pt; line-height: 1.35; }
  details:not([open]) { display: none; } .reason, .said { margin-top: .3rem; }
  .contents { grid-template-columns: repeat(4, 1fr); }
  figure, .contents a, tr, h2, h3, .heading { break-inside: avoid; }
  h2, h3, h4, summary, .heading { break-after: avoid; }
  .map > svg, .frame { filter: none; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  details > div { max-height: none; overflow: visible; }
}
"""
