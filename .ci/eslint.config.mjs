// Rules for the scripts of the viewer and of `gridgen ui`, and of their tests: `.ci/run` has the command.
const names =
  "atob Blob clearTimeout console crypto DecompressionStream devicePixelRatio document fetch getComputedStyle gridgenDraw " +
  "gridgenGrid gridgenSteer gridgenViewer matchMedia module open Path2D performance process requestAnimationFrame require ResizeObserver Response " +
  "setTimeout TextDecoder TextEncoder URL window";
const errors =
  "array-callback-return consistent-return eqeqeq no-constant-condition no-dupe-args no-dupe-keys no-duplicate-case " +
  "no-empty no-eval no-fallthrough no-implied-eval no-self-assign no-undef no-unreachable no-unsafe-finally " +
  "no-unused-expressions no-use-before-define no-var prefer-const valid-typeof";

export default [
  {
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: "script",
      globals: Object.fromEntries(names.split(" ").map((name) => [name, "readonly"])),
    },
    rules: {
      ...Object.fromEntries(errors.split(" ").map((rule) => [rule, "error"])),
      "no-use-before-define": ["error", { functions: false, classes: true }],
      "no-unused-vars": ["error", { varsIgnorePattern: "^gridgen" }],
    },
  },
];
