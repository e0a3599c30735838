#include "model/TemplateLimits.h"

#include "jinja/lexer.h"

#include <algorithm>
#include <set>

namespace concertina {
namespace {

using Token = jinja::token;

constexpr size_t maxBytes = 64 * 1024; // the longest of the 70 templates in upstream's models/templates has 17 kB
constexpr int maxNesting = 100;        // theirs: 15
// of one tag: "a + b + c" nests, too; theirs: 57
constexpr int maxTokens = 1000;
// theirs: 30. A level of the interpreter takes 1.2 kB of a stack of 8 MB, more in a build that is not optimized
constexpr int maxDepth = 500;

bool opensBlock(const std::string & name) {
    static const std::set<std::string> names = { "if", "elif", "for", "macro", "call", "filter", "set" };
    return names.count(name) > 0;
}

// How deep the parser would go, as far as it is to be told from the tokens: never less.
class Nesting {
public:
    void add(const Token & token, const Token & before) {
        tokens++;
        const bool negation =
            token.t == Token::unary_operator || (token.t == Token::identifier && token.value == "not");
        negations = negation ? negations + 1 : 0;
        if (token.t == Token::open_statement || token.t == Token::open_expression) tokens = brackets = 0;
        if (token.t == Token::open_paren || token.t == Token::open_square_bracket ||
            token.t == Token::open_curly_bracket)
            brackets++;
        if (token.t == Token::close_paren || token.t == Token::close_square_bracket ||
            token.t == Token::close_curly_bracket)
            brackets--;
        if (before.t == Token::open_statement && token.t == Token::identifier) block(token.value);
        // {% set x = 1 %} is no block
        if (token.t == Token::equals && brackets == 0 && setting) leave("set");
        deepest = std::max(deepest, blocks + brackets + negations);
        longest = std::max(longest, tokens);
    }

    int deepest = 0, longest = 0;

private:
    void block(const std::string & name) {
        setting = name == "set";
        if (opensBlock(name)) blocks++;
        if (name == "if")
            chains.push_back(0);
        else if (name == "elif" && !chains.empty())
            chains.back()++;
        if (name.rfind("end", 0) == 0) leave(name.substr(3));
    }

    // an if takes its elifs with it
    void leave(const std::string & name) {
        if (!opensBlock(name)) return;
        setting = false;
        blocks--;
        if (name != "if" || chains.empty()) return;
        blocks -= chains.back();
        chains.pop_back();
    }

    int tokens = 0, brackets = 0, negations = 0, blocks = 0;
    bool setting = false;
    std::vector<int> chains; // elifs of the ifs that are open
};

} // namespace

const template_budget::Limits loadLimits = { 1'000'000, uint64_t(64) << 20, maxDepth };

template_budget::Limits renderLimits(const std::string & body) {
    uint64_t messages = 1; // or more
    for (size_t at = body.find("\"role\""); at != std::string::npos; at = body.find("\"role\"", at + 1)) messages++;
    messages = std::min<uint64_t>(messages, 1 << 20);
    // some templates look through all messages for each message
    return { loadLimits.steps + 20'000 * messages + 200 * messages * messages, loadLimits.bytes + 100 * body.size(),
        maxDepth };
}

std::string refusedTemplate(const std::string & source) {
    if (source.size() > maxBytes) {
        return "it is " + std::to_string(source.size() / 1024) + " kB long; " + std::to_string(maxBytes / 1024) +
               " kB are the most";
    }
    Nesting nesting;
    try {
        Token before = { Token::eof, "", 0 };
        for (const Token & token : jinja::lexer().tokenize(source).tokens) {
            nesting.add(token, before);
            before = token;
        }
    } catch (const std::exception &) {
        return ""; // the interpreter will say what is wrong with it
    }
    if (nesting.deepest > maxNesting) return "it is nested deeper than " + std::to_string(maxNesting) + " levels";
    if (nesting.longest > maxTokens)
        return "one of its expressions has more than " + std::to_string(maxTokens) + " words";
    return "";
}

} // namespace concertina
