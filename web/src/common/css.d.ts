// css.d.ts: styles are imported for the bundle alone.
declare module "*.css";
