/** An email in plain text. `printed`: what the terminal of a local server shows instead. */
export type Mail = { to: string; subject: string; text: string; printed: string }

/**
 * Whether an email may show the name of a project, which anyone can choose. Email programs turn addresses into links,
 * even those without a scheme. Browsers take the full stops of other scripts and fonts for dots: NFKC makes dots of them.
 */
export function isPlainName(name: string): boolean {
  return !/:\/\/|www\.|\S[.。]\S/i.test(name.normalize('NFKC'))
}
