#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check that cannot fail is no check: each is shown what it must find, and must let pass."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import code_blocks
import contents
import links
import plots
import run_pages
from pages import Page, pages_of


class DocsTest(unittest.TestCase):
    def checkout(self, pages: dict[str, str]) -> Path:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in pages.items():
            file = Path(folder.name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return Path(folder.name)

    def blocks(self, text: str, page: str = "docs/a.md"):
        return list(Page(self.checkout({page: text}), page).blocks())

    def test_a_link_leads_to_a_file_or_a_heading(self):
        target = {"docs/a.md": "# Long way, `home`\n"}
        for link in ("docs/a.md", "docs/a.md#long-way-home", "docs", "#here", "https://x.example"):
            root = self.checkout({"README.md": f"# Here\n[a]({link})\n", **target})
            self.assertEqual(links.findings_in(root), [])
        for link in ("docs/b.md", "docs/a.md#away", "#there"):
            root = self.checkout({"README.md": f"# Here\n[a]({link})\n", **target})
            self.assertEqual(len(links.findings_in(root)), 1)
        root = self.checkout({"docs/a.md": "\n[a](../README.md)\n"})
        self.assertEqual(links.findings_in(root),
                         ["docs/a.md:2: ../README.md: there is no such file"])

    def test_each_page_is_in_the_sidebar(self):
        sidebar = ("```{toctree}\n:glob:\n\nFirst <docs/a>\ndocs/how/*\nThe interface <interface>\n"
                   "Changes <CHANGELOG>\n```\n")
        pages = {"README.md": "", "CHANGELOG.md": "", "docs/a.md": "", "docs/how/b.md": "",
                 "tools/docs/interface.md": "", contents.SIDEBAR: sidebar}
        self.assertEqual(contents.findings_in(self.checkout(pages)), [])
        for page in ("docs/c.md", "docs/how/deep/c.md", "SECURITY.md"):
            root = self.checkout({**pages, page: ""})
            self.assertEqual(contents.findings_in(root),
                             [f"{page} is not in {contents.SIDEBAR}"])

    def test_each_entry_of_the_sidebar_leads_to_a_page(self):
        sidebar = "```{toctree}\n:caption: Begin\n\nFirst <docs/a>\ndocs/how/*\n```\n"
        self.assertEqual(contents.findings_in(self.checkout({contents.SIDEBAR: sidebar})),
                         [f"{contents.SIDEBAR}: docs/a leads to no page",
                          f"{contents.SIDEBAR}: docs/how/* leads to no page"])

    def test_what_is_only_shown_is_no_link(self):
        root = self.checkout({"README.md": "`[a](b)`\n```cpp\nc[d](e);\n```\n"})
        self.assertEqual(links.findings_in(root), [])

    def test_pages_are_found_where_they_are(self):
        root = self.checkout({"README.md": "", "docs/a/b.md": "", "tests/x/README.md": "",
                              "build/docs/README.md": "", "src/notes.md": ""})
        self.assertEqual([page.path for page in pages_of(root)],
                         ["README.md", "docs/a/b.md", "tests/x/README.md"])

    def test_a_block_knows_its_place_and_its_context(self):
        first, second = self.blocks("a\n```cpp\nb();\n```\n\n<!-- compiled as: coroutine -->\n"
                                    "```sh\nc\nd\n```\n")
        self.assertEqual((first.line, first.language, first.text, first.context),
                         (3, "cpp", "b();\n", ""))
        self.assertEqual((second.line, second.language, second.text, second.context),
                         (8, "sh", "c\nd\n", "coroutine"))

    def test_includes_come_first_and_a_message_names_the_page(self):
        text = code_blocks.one_file(self.blocks("```cpp\n#include <map>\nb();\n```\n"))
        self.assertLess(text.index("#include <map>"), text.index("namespace block_0"))
        self.assertIn('#line 2 "docs/a.md"\n\nb();\n', text)

    def test_a_context_that_is_not_there_is_an_error(self):
        text = "<!-- compiled as: nothing -->\n```cpp\n```\n"
        self.assertIn("#error no context nothing", code_blocks.one_file(self.blocks(text)))

    def test_a_complete_block_gets_nothing_that_it_does_not_show(self):
        alone = self.blocks("<!-- compiled as: coroutine -->\n```cpp\nint a;\n```\n",
                            page="README.md")
        alone += self.blocks("<!-- compiled as: complete -->\n```cpp\nint b;\n```\n")
        *together, first, second = code_blocks.files_of(alone + self.blocks("```cpp\nc();\n```\n"))
        self.assertEqual(first, '#line 3 "README.md"\nint a;\n')
        self.assertEqual(second, '#line 3 "docs/a.md"\nint b;\n')
        self.assertIn("c();", "".join(together))

    def test_shell_is_parsed(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(code_blocks.is_shell(self.blocks("```sh\na | b\n```\n")[0]))
            self.assertFalse(code_blocks.is_shell(self.blocks("```sh\na | | b\n```\n")[0]))

    def test_commands_are_found_in_what_pages_show(self):
        self.assertEqual(run_pages.of_crontab("A=1\n*/5 * * * *  date +\\%F\n"),
                         [(["sh", "-c", "date +%F"], {"A": "1"})])
        self.assertEqual(run_pages.of_dockerfile('ENV A=1\nENTRYPOINT ["a", "b"]\nCMD ["c"]\n'),
                         [(["a", "b", "c"], {"A": "1"})])
        self.assertEqual(run_pages.of_unit("[Service]\nEnvironment=A=1 B=2\nExecStart=/a b\n"),
                         [(["/a", "b"], {"A": "1", "B": "2"})])
        [(words, variables)] = run_pages.of_yaml(
            'job:\n  variables:\n    A: "1"\n  script:\n    - a b\n')
        self.assertEqual((words, variables["A"]), (["sh", "-c", "a b"], "1"))

    def test_a_command_that_fails_is_a_finding(self):
        root = self.checkout({"docs/howto/a.md": "```sh\ntrue\n```\n```sh\nfalse\ntrue\n```\n"})
        page = Page(root, "docs/howto/a.md")

        class HereOnly(run_pages.Commands):
            def __init__(self):
                self.folder, self.bin, self.url = root, root, "unix:///x"
                self.environment = {"PATH": "/usr/bin:/bin"}

        findings = [run_pages.findings_of(page, block, HereOnly()) for block in page.blocks()]
        self.assertEqual([len(each) for each in findings], [0, 1])
        self.assertTrue(findings[1][0].startswith("docs/howto/a.md:5: "))

    def test_a_text_over_another_is_found(self):
        def plot(*texts):
            return "".join(['<svg xmlns="http://www.w3.org/2000/svg">', *(
                f'<text style="font: 10px sans; text-anchor: {anchor}" x="{x}" y="{y}">{words}'
                "</text>" for words, anchor, x, y in texts), "</svg>"])
        title = ("a title", "start", 20, 20)
        for beside in (("below", "start", 20, 30), ("right", "start", 60, 20),
                       ("left", "end", 20, 20), ("mid", "middle", 12, 20)):
            root = self.checkout({"docs/a/b.svg": plot(title, beside)})
            self.assertEqual(plots.findings_in(root), [])
        for over in (("lower", "start", 50, 24), ("end", "end", 40, 20), ("mid", "middle", 13, 20)):
            root = self.checkout({"docs/a/b.svg": plot(title, over)})
            self.assertEqual(plots.findings_in(root), [
                f'docs/a/b.svg: "a title" and "{over[0]}" are over each other'])


if __name__ == "__main__":
    unittest.main()
