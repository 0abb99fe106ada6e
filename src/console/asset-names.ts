// Made by scripts/assets.ts: where each asset of the console is served.
export const STYLE = '/assets/style-a9d84b39fb.css'
export const SCRIPT = '/assets/script-d7471bbbce.js'
export const ICON = '/assets/icon-1528e32439.svg'
export const REFERENCE_STYLE = '/assets/reference-style-9b70f81e81.css'
export const REFERENCE_SCRIPT = '/assets/reference-script-4494ff4cdb.js'
