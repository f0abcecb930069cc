//! What git reads as settings or runs can be in many places, and a command that could change one of them
//! would run whatever it likes when the person uses git next. Each attack works without a sandbox.
//!
//! Each defence was taken out by hand, one at a time, to see which test notices:
//!
//! | taken out | noticed by |
//! |---|---|
//! | what settings include | `whatever_is_included_is_found` |
//! | `config.worktree`; submodules as git has them down | `submodules_are_found_by_what_git_wrote_down` |
//! | the person's own `core.hooksPath`; dotfiles linked from home | `what_git_heeds_is_held…` |
//! | links laid over themselves; links on the way | `what_git_heeds_is_held…` |
//! | repositories without files; a `.git` file followed; hooks in the workspace itself | `what_git_heeds_is_held…` |
//! | a worktree's submodules | `a_linked_worktrees_submodules…` |
//! | what was known before | `what_was_known_stays_known` |
//! | settings that are too long refused | `whatever_is_included_is_found` |
//! | a look that is cut short refused | `a_look_for_repositories_that_is_cut_short…` |
//! | a folder that was shut | `the_folder_that_is_shut_is_named…` |
//!
//! That no pipe or device is read in the place of a file is asked twice, before and after it is opened, so
//! taking one of them out is not noticed.

use std::rc::Rc;

use weft_sandbox::support::Layers;

use crate::world::{self, Ground, World};

struct Attack {
    name: &'static str,
    /// What a person has, made by lines for bash.
    prepared: &'static str,
    /// What a command did in an earlier turn, in the sandbox.
    before: &'static str,
    /// Ends with 0 if it got through.
    line: &'static str,
    /// Where commands work.
    workspace: &'static str,
}

impl Attack {
    const fn within(self, workspace: &'static str) -> Self {
        Self { workspace, ..self }
    }
}

const fn attack(name: &'static str, prepared: &'static str, before: &'static str, line: &'static str) -> Attack {
    Attack { name, prepared, before, line, workspace: "ws" }
}

const INCLUDED: &str = "git config include.path ../team.cfg && echo '[user]' > team.cfg";
const LINKED: &str = "mkdir real && touch real/cfg && ln -s real way && git config include.path ../way/cfg";
const BESIDE: &str = "rm -rf .git && git init -q --bare .bare && echo 'gitdir: ./.bare' > .git";
const DOTFILES: &str = "mkdir dot && touch dot/gitconfig dot/bashrc && ln -s $PWD/dot/gitconfig $HOME/.gitconfig && \
                        ln -s $PWD/dot/bashrc $HOME/.bashrc";
const SUBMODULE: &str = "git init -q ../lib && git -C ../lib commit -qm one --allow-empty && \
                         git -c protocol.file.allow=always submodule --quiet add ../lib a/deep/er/lib";
const EMBEDDED: &str = "git init -q a/deep/er/own && \
                        printf '[submodule \"own\"]\\n\\tpath = a/deep/er/own\\n' > .gitmodules";

const SUBMODULE_WITH_HOOKS: &str = "git init -q ../lib && git -C ../lib commit -qm one --allow-empty && \
                                    git -c protocol.file.allow=always submodule --quiet add ../lib lib && \
                                    git -C lib config core.hooksPath .husky && mkdir lib/.husky";
const APART: &str = "rm -rf .git && git init -q --separate-git-dir ../store . && mkdir .husky && touch team.cfg && \
                     git config core.hooksPath .husky && git config include.path ../ws/team.cfg";
const NINE: &str = "for i in 1 2 3 4 5 6 7 8 9; do git init -q r$i; done && git -C r9 config core.hooksPath .husky && \
                    git -C r9 config include.path ../team.cfg && mkdir r9/.husky && touch r9/team.cfg";
const WORKTREES: &str = "git commit -qm one --allow-empty && git worktree add -q .worktrees/one && \
                         git worktree add -q a/b/c/two";

const ATTACKS: [Attack; 45] = [
    attack(
        "hooks that a worktree's settings name",
        "git config extensions.worktreeConfig true && git config --worktree core.hooksPath .husky && mkdir .husky",
        "",
        "echo x > .husky/pre-commit",
    ),
    attack("settings that are included", INCLUDED, "", "echo '[core] fsmonitor = x' >> team.cfg"),
    attack("included settings replaced", INCLUDED, "", "echo x > new && mv -f new team.cfg"),
    attack(
        "settings that are included on some branch",
        "git config includeIf.onbranch:later.path ../team.cfg && touch team.cfg",
        "",
        "echo '[core] fsmonitor = x' >> team.cfg",
    ),
    attack(
        "settings that a worktree's settings include",
        "git config extensions.worktreeConfig true && git config --worktree include.path ../team.cfg && touch team.cfg",
        "",
        "echo x >> team.cfg",
    ),
    attack(
        "hooks that included settings name",
        "git config include.path ../team.cfg && git config -f team.cfg core.hooksPath tools && mkdir tools",
        "",
        "echo x > tools/pre-commit",
    ),
    attack("a link on the way to settings", LINKED, "", "rm way && mkdir way && echo x > way/cfg"),
    attack("a link on the way to settings exchanged", LINKED, "", "mkdir evil && ln -sfn evil way && test -d way/."),
    attack("settings behind a link", LINKED, "", "echo x > real/cfg"),
    attack(
        "hooks in the workspace itself",
        "git config core.hooksPath . && echo true > pre-commit",
        "",
        "echo x > pre-commit",
    ),
    attack(
        "hooks that settings in another encoding name",
        "printf '[user]\\n\\tname = J\\374rgen\\n[core]\\n\\thooksPath = .husky\\n' > .git/config && mkdir .husky",
        "",
        "echo x > .husky/pre-commit",
    ),
    attack(
        "hooks that the person's own settings name",
        "git config --file $HOME/.gitconfig core.hooksPath .githooks && mkdir .githooks",
        "",
        "echo x > .githooks/pre-commit",
    ),
    attack("the person's settings, linked from home", DOTFILES, "", "echo x >> dot/gitconfig"),
    attack("a start-up file, linked from home", DOTFILES, "", "echo x >> dot/bashrc"),
    attack(
        "a start-up file that is a link",
        "mkdir shared && touch shared/rc && ln -s shared/rc .envrc",
        "",
        "rm .envrc && echo x > .envrc",
    ),
    attack(
        "hooks that are linked",
        "rm -rf .git/hooks && mkdir githooks && ln -s ../githooks .git/hooks",
        "",
        "echo x > githooks/pre-commit",
    ),
    attack("hooks of a git folder by another name", BESIDE, "", "echo x > .bare/hooks/pre-commit"),
    attack("settings of a git folder by another name", BESIDE, "", "git config core.fsmonitor x"),
    attack("hooks of a repository without files", "git init -q --bare s.git", "", "echo x > s.git/hooks/update"),
    attack(
        "hooks of a worktree's repository",
        "git init -q --bare all/one && git -C all/one worktree add -q --orphan -b m ../two",
        "",
        "echo x > all/one/hooks/pre-commit",
    ),
    attack("a submodule that lies deep", SUBMODULE, "", "rm a/deep/er/lib/.git && git init -q a/deep/er/lib"),
    attack(
        "a submodule that no list names any more",
        SUBMODULE,
        "rm .gitmodules",
        "rm a/deep/er/lib/.git && git init -q a/deep/er/lib",
    ),
    attack(
        "a submodule that no list names any more, moved away",
        SUBMODULE,
        "git config -f .gitmodules submodule.a/deep/er/lib.path else/where",
        "mv a/deep b && git init -q a/deep/er/lib",
    ),
    attack("hooks of a repository that lies deep", EMBEDDED, "", "echo x > a/deep/er/own/.git/hooks/pre-commit"),
    attack(
        "hooks of a repository that no list names any more",
        EMBEDDED,
        "rm .gitmodules",
        "echo x > a/deep/er/own/.git/hooks/pre-commit",
    ),
    attack(
        "hooks by settings of a git folder elsewhere",
        "rm -rf .git && git init -q --separate-git-dir ../store . && git config core.hooksPath .husky && mkdir .husky",
        "",
        "echo x > .husky/pre-commit",
    ),
    attack(
        "hooks of the ninth repository inside",
        "for i in 1 2 3 4 5 6 7 8 9; do git init -q r$i && git -C r$i config core.hooksPath .husky && mkdir r$i/.husky; done",
        "",
        "echo x > r9/.husky/pre-commit",
    ),
    attack(
        "a worktree that lies deep",
        "git commit -qm one --allow-empty && git worktree add -q .worktrees/a/b -b b",
        "",
        "echo gitdir: ../../../evil > .worktrees/a/b/.git",
    ),
    attack(
        "settings of a repository without files",
        "git init -q --bare data/r.git",
        "",
        "git -C data/r.git config core.fsmonitor x",
    ),
    attack(
        "a submodule of a repository inside",
        "git init -q ../lib && git -C ../lib commit -qm one --allow-empty && git init -q in/side && \
         git -C in/side -c protocol.file.allow=always submodule --quiet add ../../../lib mod",
        "rm in/side/.gitmodules",
        "rm in/side/mod/.git && git init -q in/side/mod",
    ),
    attack(
        "hooks that the repository around names",
        "mkdir -p front/.husky && git config core.hooksPath front/.husky",
        "",
        "echo x > .husky/pre-commit",
    )
    .within("ws/front"),
    attack(
        "settings that the repository around includes",
        "mkdir front && touch front/team.cfg && git config include.path ../front/team.cfg",
        "",
        "echo x >> team.cfg",
    )
    .within("ws/front"),
    attack("hooks of a submodule that is the workspace", SUBMODULE_WITH_HOOKS, "", "echo x > .husky/pre-commit")
        .within("ws/lib"),
    attack("hooks by settings that lie elsewhere", APART, "", "echo x > .husky/pre-commit"),
    attack("settings that settings elsewhere include", APART, "", "echo x >> team.cfg"),
    attack(
        "hooks of a worktree whose repository lies elsewhere",
        "git init -q ../main && git -C ../main commit -qm one --allow-empty && mkdir -p in && \
         git -C ../main config core.hooksPath .husky && git -C ../main worktree add -q ../ws/in/w && mkdir in/w/.husky",
        "",
        "echo x > in/w/.husky/pre-commit",
    ),
    attack(
        "hooks of a worktree that was moved by hand",
        "git commit -qm one --allow-empty && git config core.hooksPath .husky && git worktree add -q ../one && \
         mv ../one ../two && mkdir ../two/.husky",
        "",
        "echo x > .husky/pre-commit",
    )
    .within("two"),
    attack("hooks of the ninth repository inside", NINE, "", "echo x > r9/.husky/pre-commit"),
    attack("settings that the ninth repository inside includes", NINE, "", "echo x > r9/team.cfg"),
    attack(
        "a worktree in a folder with a point",
        WORKTREES,
        "",
        "rm .worktrees/one/.git && git init -q .worktrees/one",
    ),
    attack("a worktree that lies deep", WORKTREES, "", "rm a/b/c/two/.git && git init -q a/b/c/two"),
    attack(
        "hooks of working files that settings say are elsewhere",
        "git init -q in && git -C in config core.hooksPath .husky && git -C in config core.worktree ../../files && \
         mkdir -p files/.husky",
        "",
        "echo x > files/.husky/pre-commit",
    ),
    attack(
        "a hook for another system, in the workspace itself",
        "git config core.hooksPath . && echo true > p4-prepare-changelist",
        "",
        "echo x > p4-prepare-changelist",
    ),
    attack(
        "hooks of a git folder whose name is no text",
        "d=$(printf 'st\\374') && rm -rf .git && git init -q --separate-git-dir ../$d . && mkdir .husky && \
         git config core.hooksPath .husky",
        "",
        "echo x > .husky/pre-commit",
    ),
    attack(
        "a file that leads up, and hooks beside it",
        "git config core.hooksPath .husky && mkdir .husky && mkdir x && echo 'gitdir: ..' > x/.git",
        "",
        "echo x > .husky/pre-commit",
    ),
];

/// Whom commits are by, and no settings but those of the world.
const IDENTITY: &str = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e && \
                        git init -q . && ";

fn judged(line: &str) -> String {
    format!("( {line} ) && echo GOT THROUGH || echo REFUSED")
}

fn prepared(ground: &Rc<Ground>, attack: &Attack) -> World {
    let mut world = World::on(ground);
    let (code, output) = world.plain(&format!("{IDENTITY}{}", attack.prepared));
    assert_eq!(code, Some(0), "{}: {output}", attack.name);
    world.workspace = world.path(attack.workspace);
    world
}

fn try_all(layers: Layers, ground: Ground, way: fn(&World, Layers, &str) -> (Option<i32>, String), but: &[&str]) {
    let ground = Rc::new(ground);
    let mut problems = Vec::new();
    for attack in ATTACKS.iter().filter(|attack| !but.contains(&attack.name)) {
        let idle = prepared(&ground, attack);
        idle.plain(attack.before);
        let (_, output) = idle.plain(&judged(attack.line));
        if !output.contains("GOT THROUGH") {
            problems.push(format!("{}: this is no attack: {output}", attack.name));
        }
        let world = prepared(&ground, attack);
        // There is a turn before, in which the list may be changed.
        let (code, output) =
            way(&world, layers, &format!(": && {}", if attack.before.is_empty() { ":" } else { attack.before }));
        if code != Some(0) {
            problems.push(format!("{}: nothing could be done before: {output}", attack.name));
        }
        let (_, output) = way(&world, layers, &judged(attack.line));
        if !output.contains("REFUSED") || output.contains("GOT THROUGH") || output.contains("weft sandbox:") {
            problems.push(format!("{}: it was not refused: {output}", attack.name));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn what_git_heeds_is_held_wherever_it_is() {
    let Some(layers) = world::full() else { return };
    try_all(layers, Ground::own(), World::run, &[]);
    try_all(layers, Ground::own(), World::run_on_ground, &[]);
}

/// It cannot lay a link over itself, so one next to the top can be replaced.
#[test]
fn what_git_heeds_is_held_in_bubblewraps_world_but_links() {
    let Some(ground) = crate::bubblewrap::ground() else { return };
    let but =
        ["a link on the way to settings", "a link on the way to settings exchanged", "a start-up file that is a link"];
    try_all(Layers::ALL, ground, World::run, &but);
}

/// Holding all that leaves git as it was.
#[test]
fn git_still_works_with_all_that() {
    let Some(layers) = world::full() else { return };
    for (name, prepared_by, folder) in [
        ("included settings", INCLUDED, "."),
        ("linked hooks", "rm -rf .git/hooks && mkdir githooks && ln -s ../githooks .git/hooks", "."),
        ("a git folder by another name", BESIDE, "."),
        ("a linked start-up file", "mkdir shared && touch shared/rc && ln -s shared/rc .envrc && git add -A", "."),
        ("a submodule", SUBMODULE, "."),
        (
            "worktrees of a folder inside",
            "git init -q --bare all/one && git -C all/one worktree add -q --orphan -b m ../two",
            "all/two",
        ),
    ] {
        let world = prepared(&Rc::new(Ground::own()), &attack(name, prepared_by, "", ""));
        let line = format!(
            "cd {folder} && echo x > file && git add file && git -c user.name=n -c user.email=e commit -qm one && \
             git status --porcelain -uno && git log --format=%s"
        );
        assert_eq!(world.run(layers, &line), (Some(0), "one\n".to_owned()), "{name}");
    }
}

/// What stands in for what is absent must not keep git from its work with worktrees that lie inside.
#[test]
fn a_worktree_inside_can_be_removed_meanwhile() {
    let Some(layers) = world::full() else { return };
    let prepared_by = "git commit -qm one --allow-empty && git worktree add -q trees/w -b w";
    let world = prepared(&Rc::new(Ground::own()), &attack("a worktree inside", prepared_by, "", ""));
    let line = "touch ready; until test -e go; do sleep 0.02; done";
    let mut command = world.sandboxed(&world.order(layers), line).spawn().unwrap();
    while !world.workspace.join("ready").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let removed = world.plain("git worktree remove trees/w");
    std::fs::write(world.workspace.join("go"), "").unwrap();
    assert!(command.wait().unwrap().success());
    assert_eq!(removed.0, Some(0), "{}", removed.1);
}

/// The settings are those of the whole.
#[test]
fn a_part_of_a_repository_is_held_by_the_settings_around_it() {
    let Some(layers) = world::full() else { return };
    let prepared_by = "git config core.hooksPath front/.husky && git config include.path ../front/team.cfg && \
                       mkdir -p front/.husky && touch front/team.cfg";
    for line in ["echo x > .husky/pre-commit", "echo x >> team.cfg"] {
        let mut world = prepared(&Rc::new(Ground::own()), &attack("a part", prepared_by, "", ""));
        world.workspace = world.path("ws/front");
        let (_, output) = world.run(layers, &judged(line));
        assert!(output.contains("REFUSED"), "{line}: {output}");
        assert!(world.plain(&judged(line)).1.contains("GOT THROUGH"));
    }
}

/// A command can make a file that leads to the workspace; nothing is shut for it.
#[test]
fn a_git_file_that_leads_to_the_workspace_shuts_nothing() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    for target in ["..", "../.."] {
        world.plain(&format!("mkdir -p x && echo 'gitdir: {target}' > x/.git"));
        assert_eq!(world.run(layers, "echo y > made && cat made"), (Some(0), "y\n".to_owned()), "{target}");
    }
}

/// Submodules of a linked worktree are kept in a folder of its own.
#[test]
fn a_linked_worktrees_submodules_keep_their_hooks() {
    let Some(layers) = world::full() else { return };
    let mut world =
        prepared(&Rc::new(Ground::own()), &attack("a worktree", "git worktree add -q --orphan -b w ../tree", "", ""));
    world.workspace = world.path("tree");
    let line = "d=$(git rev-parse --git-dir) && mkdir -p $d/modules/m/hooks && echo x > $d/modules/m/hooks/update";
    let (_, output) = world.run(layers, &judged(line));
    assert!(output.contains("REFUSED"), "{output}");
    assert!(world.plain(&judged(line)).1.contains("GOT THROUGH"));
}

/// What is held must not get into what people do, nor lock them out.
#[test]
fn people_get_on_with_their_work() {
    let Some(layers) = world::full() else { return };
    let named = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; ";
    let commit = "echo x > new-file && git add new-file && git commit -qm two";
    let cases = [
        ("a file that leads up", "mkdir x && echo 'gitdir: ..' > x/.git", commit),
        ("a file that leads further up", "mkdir x && echo 'gitdir: ../..' > x/.git", commit),
        ("a file that leads to the repository", "mkdir x && echo 'gitdir: ../.git' > x/.git", commit),
        ("a file that leads into the repository", "mkdir x && echo 'gitdir: ../.git/objects' > x/.git", commit),
        (
            "more of them than are committed to",
            "for i in 1 2 3 4 5 6 7 8 9; do mkdir x$i && echo 'gitdir: ../.git' > x$i/.git; done",
            commit,
        ),
        (
            "hooks at the top of a repository inside",
            "git init -q in && git -C in config core.hooksPath .",
            "echo x > in/f",
        ),
        (
            "a list of submodules without end, inside",
            "git init -q in && head -c 1100000 /dev/zero | tr '\\0' '#' > in/.gitmodules",
            commit,
        ),
        (
            "many worktrees",
            "git commit -qm one --allow-empty && for i in 1 2 3 4 5 6 7 8 9 10; do git worktree add -q .worktrees/w$i; done",
            "echo x > new-file && git add new-file && git commit -qm two && cd .worktrees/w9 && echo x > new && \
             git add new && git commit -qm three",
        ),
        (
            "many submodules",
            "git init -q ../lib && git -C ../lib commit -qm one --allow-empty && for i in 1 2 3 4 5 6 7 8 9 10; do \
             git -c protocol.file.allow=always submodule --quiet add ../lib mods/m$i; done",
            commit,
        ),
    ];
    for (name, prepared_by, line) in cases {
        let world = prepared(&Rc::new(Ground::own()), &attack(name, prepared_by, "", ""));
        let (code, output) = world.run(layers, &format!("{named}{line}"));
        assert_eq!(code, Some(0), "{name}: {output}");
    }
}

/// A repository may be one of the files of another one, to be tested with.
#[test]
fn what_stands_in_is_not_committed() {
    let Some(layers) = world::full() else { return };
    let prepared_by = "rm -rf sub && git init -q --bare testdata/r.git && touch testdata/r.git/objects/f \
                       testdata/r.git/refs/f && git add -A && git commit -qm one";
    let world = prepared(&Rc::new(Ground::own()), &attack("a fixture", prepared_by, "", ""));
    assert_eq!(world.run(layers, "git add -A && git status --porcelain"), (Some(0), String::new()));
}
